# ruff: noqa: E501, UP031
"""About 300 lines as they stand in agents' logs: what has to go from them, and what has to stay.

All values are made up, and drawn when this is imported: a key that looks real would set off a host's secret scanner.
The same run gives the same values.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import urllib.parse
import uuid
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One line of a log."""

    theme: str
    text: str
    must_go: tuple[tuple[str, str], ...] = ()
    """Kind and value; every occurrence has to go."""
    must_stay: tuple[str, ...] = ()
    """Byte for byte."""
    note: str = ""
    policy: bool = False
    """A matter of taste: the README says what was decided."""


CHANCE = random.Random(20261130)
LETTERS = string.ascii_letters + string.digits
CASES: list[Case] = []


def add(theme, text, must_go=(), must_stay=(), note="", policy=False):
    CASES.append(Case(theme, text, tuple(must_go), tuple(must_stay), note, policy))


def drawn(count, alphabet=LETTERS):
    return "".join(CHANCE.choice(alphabet) for _ in range(count))


def hexadecimal(count):
    return drawn(count, "0123456789abcdef")


def url_safe(count):
    return drawn(count, LETTERS + "-_")


def base64_of(value):
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def card_number(prefix, length):
    """A number with the check digit that cards have."""
    digits = prefix + "".join(CHANCE.choice("0123456789") for _ in range(length - len(prefix) - 1))
    total = 0
    for index, character in enumerate(reversed(digits)):
        value = int(character) * (2 if index % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return digits + str((10 - total % 10) % 10)


def in_fours(digits):
    return " ".join(digits[index : index + 4] for index in range(0, 16, 4))


CONTEXT = {
    "homes": ["/Users/mira.okafor", "/home/mira", "C:\\Users\\Mira Okafor"],
    "logins": ["mira", "mira.okafor", "mokafor"],
    "hosts": ["Miras-MacBook-Pro"],
    "names": [
        "Mira Okafor",
        "Mira",
        "Okafor",
        "Mark Lindqvist",
        "Mark",
        "Zoë Brontë",
        "李小龍",
        "Will Ng",
        "Jean-Luc O'Neil",
    ],
    "emails": ["mira@okafor.dev"],
}
KNOWN = [
    'tr0ub4dor&3-horse"battery',
    "7f3kQ-9zLm_Vp2xWq",
    "correct horse battery staple",
    "kv/Ab+9xT0qZ==plus/slash",
    "hunter22",
    "3000",
    "true",
    "dev",
    "postgres",
]

# --- generated credentials

ANT = "sk-ant-api03-" + url_safe(93) + "AA"
ANTO = "sk-ant-oat01-" + url_safe(93) + "AA"
OAI = "sk-proj-" + url_safe(74) + "T3BlbkFJ" + url_safe(74)
OAI0 = "sk-" + drawn(20) + "T3BlbkFJ" + drawn(20)
OSVC = "sk-svcacct-" + url_safe(58) + "T3BlbkFJ" + url_safe(58)
GHP = "ghp_" + drawn(36)
GHO = "gho_" + drawn(36)
GHS = "ghs_" + drawn(36)
GHU = "ghu_" + drawn(36)
GHR = "ghr_" + drawn(76)
GPAT = "github_pat_" + drawn(22) + "_" + drawn(59)
GLP = "glpat-" + url_safe(20)
XOXB = "xoxb-" + drawn(12, "0123456789") + "-" + drawn(13, "0123456789") + "-" + drawn(24)
XAPP = (
    "xapp-1-A0"
    + drawn(9, string.ascii_uppercase + string.digits)
    + "-"
    + drawn(13, "0123456789")
    + "-"
    + hexadecimal(64)
)
HF = "hf_" + drawn(34, string.ascii_letters)
AIZA = "AIza" + url_safe(35)
AKIA = "AKIA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
ASIA = "ASIA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
AWSSK = drawn(40, LETTERS + "+/")
AWSST = "IQoJb3JpZ2luX2VjE" + drawn(300, LETTERS + "+/") + "=="
NPM = "npm_" + drawn(36)
PYPI = "pypi-AgEIcHlwaS5vcmc" + url_safe(90)
SKL = "sk_live_" + drawn(24)
RKL = "rk_live_" + drawn(24)
WHSEC = "whsec_" + drawn(32)
SG = "SG." + url_safe(22) + "." + url_safe(43)
TW = "SK" + hexadecimal(32)
GROQ = "gsk_" + drawn(52)
XAI = "xai-" + drawn(80)
PPLX = "pplx-" + drawn(48)
OR = "sk-or-v1-" + hexadecimal(64)
REP = "r8_" + drawn(37)
TG = drawn(10, "123456789") + ":AA" + url_safe(33)
DISC = "M" + drawn(23) + "." + drawn(6) + "." + url_safe(38)
DOP = "dop_v1_" + hexadecimal(64)
VERC = drawn(24)
SUPA = "sbp_" + hexadecimal(40)
LIN = "lin_api_" + drawn(40)
NOTION = "ntn_" + drawn(46)
FIG = "figd_" + url_safe(40)
PM = "PMAK-" + hexadecimal(24) + "-" + hexadecimal(34)
DATAB = "dapi" + hexadecimal(32)
AGE = "AGE-SECRET-KEY-1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
TS = "tskey-auth-k" + drawn(11) + "CNTRL-" + drawn(32)
SHOP = "shpat_" + hexadecimal(32)
SENTRY = (
    "sntrys_"
    + base64_of(
        '{"iat":1700000000.1,"url":"https://sentry.io","region_url":"https://us.sentry.io","org":"acme"}'
    ).rstrip("=")
    + "_"
    + drawn(43)
)
VAULT = "hvs." + url_safe(90)
DOCK = "dckr_pat_" + url_safe(27)
JWT = ".".join(
    [
        base64_of('{"alg":"HS256","typ":"JWT"}').rstrip("="),
        base64_of('{"sub":"8675309","name":"M. Okafor","iat":1716239022,"exp":1916239022}').rstrip("="),
        url_safe(43),
    ]
)
GOCSPX = "GOCSPX-" + url_safe(28)
YA29 = "ya29.a0" + url_safe(160)
CF = drawn(40, LETTERS + "-_")
AZ = drawn(3) + "8Q~" + url_safe(34)
AZST = drawn(86, LETTERS + "+/") + "=="
FIRE = "fw_" + drawn(24)
DS = "sk-" + hexadecimal(32)
CEREBRAS = "csk-" + drawn(48, string.ascii_lowercase + string.digits)
EXA = str(uuid.UUID(int=CHANCE.getrandbits(128)))
TAV = "tvly-dev-" + drawn(32)
LANGF = "sk-lf-" + str(uuid.UUID(int=CHANCE.getrandbits(128)))
LSV = "lsv2_pt_" + hexadecimal(32) + "_" + hexadecimal(10)
E2B = "e2b_" + hexadecimal(40)
PW1 = drawn(14, LETTERS + "!#%*+")
PW2 = "Xk7" + drawn(9) + "!q"
PW3 = "Summer2026!"
PW4 = drawn(16)

# --- provider keys in plain prose / logs

for name, k in {
    "anthropic": ANT,
    "anthropic_oauth": ANTO,
    "openai_proj": OAI,
    "openai_legacy": OAI0,
    "openai_svc": OSVC,
    "github_pat": GHP,
    "github_oauth": GHO,
    "github_app": GHS,
    "github_user": GHU,
    "github_refresh": GHR,
    "github_fine": GPAT,
    "gitlab": GLP,
    "slack_bot": XOXB,
    "slack_app": XAPP,
    "huggingface": HF,
    "google": AIZA,
    "npm": NPM,
    "pypi": PYPI,
    "stripe": SKL,
    "stripe_restricted": RKL,
    "stripe_webhook": WHSEC,
    "sendgrid": SG,
    "groq": GROQ,
    "xai": XAI,
    "perplexity": PPLX,
    "openrouter": OR,
    "replicate": REP,
    "telegram": TG,
    "discord": DISC,
    "digitalocean": DOP,
    "supabase": SUPA,
    "linear": LIN,
    "notion": NOTION,
    "figma": FIG,
    "postman": PM,
    "databricks": DATAB,
    "age": AGE,
    "tailscale": TS,
    "shopify": SHOP,
    "sentry": SENTRY,
    "vault": VAULT,
    "docker": DOCK,
    "google_secret": GOCSPX,
    "google_access": YA29,
    "tavily": TAV,
    "langfuse": LANGF,
    "langsmith": LSV,
    "e2b": E2B,
}.items():
    tmpl = CHANCE.choice(
        [
            "I found the token {k} in the config, so I'll use it.",
            "Error: 401 invalid credentials ({k})",
            "> echo $TOKEN\n{k}\n",
            "The `{k}` value is set.",
            "token={k}&next=1",
            "…connecting with {k}, retrying",
        ]
    )
    add("provider:" + name, tmpl.format(k=k), [("key", k)])

# --- env dumps / assignments

add(
    "env",
    "$ env | sort\nANTHROPIC_API_KEY=%s\nHOME=/home/mira\nLANG=en_GB.UTF-8\nOPENAI_API_KEY=%s\nPATH=/usr/local/bin:/usr/bin:/bin\nSHLVL=1\nTERM=xterm-256color"
    % (ANT, OAI),
    [("key", ANT), ("key", OAI), ("home", "/home/mira")],
    [
        "LANG=en_GB.UTF-8",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "TERM=xterm-256color",
        "ANTHROPIC_API_KEY=",
        "OPENAI_API_KEY=",
    ],
)
add(
    "env",
    "export DATABASE_PASSWORD=%s\nexport PORT=3000\nexport DEBUG=true\nexport NODE_ENV=production" % PW4,
    [("key", PW4)],
    ["PORT=3000", "DEBUG=true", "NODE_ENV=production"],
)
SECRET = hexadecimal(128)
add("env", "SECRET_KEY_BASE=%s" % SECRET, [("key", SECRET)], ["SECRET_KEY_BASE="])
add("env", 'declare -x CLOUDFLARE_API_TOKEN="%s"' % CF, [("key", CF)], ["CLOUDFLARE_API_TOKEN"])
add("env", 'PS> $env:AZURE_CLIENT_SECRET = "%s"' % AZ, [("key", AZ)], ["AZURE_CLIENT_SECRET"])
add("env", "set JWT_SECRET=%s\r\nset NODE_VERSION=20.11.1\r\n" % PW4, [("key", PW4)], ["NODE_VERSION=20.11.1"])
add(
    "env",
    "docker run -e MYSQL_ROOT_PASSWORD=%s -e TZ=UTC -p 3306:3306 mysql:8.4" % PW1,
    [("key", PW1)],
    ["-p 3306:3306", "mysql:8.4", "TZ=UTC"],
)
SECRET = "django-insecure-" + drawn(50, LETTERS + "!@#$^&*(-_=+)")
add("env", "DJANGO_SECRET_KEY='%s'" % SECRET, [("key", SECRET)], ["DJANGO_SECRET_KEY"])
add("env", "password: %s\nusername: mira" % PW2, [("key", PW2)], ["password: "])
add(
    "env",
    "The admin password is %s, change it after first login." % PW3,
    [("key", PW3)],
    ["change it after first login"],
    note="prose; low-entropy human password",
    policy=True,
)
SECRET = hexadecimal(32)
add("env", 'api_key: "%s"  # prod' % SECRET, [("key", SECRET)], ["# prod"])
SECRET = drawn(32)
add("env", "client_secret = %s" % SECRET, [("key", SECRET)], ["client_secret"])
add(
    "env",
    "printenv | grep -i key\nDEEPSEEK_API_KEY=%s\nEXA_API_KEY=%s" % (DS, EXA),
    [("key", DS), ("key", EXA)],
    ["EXA_API_KEY="],
    note="UUID-shaped API key",
)

# --- headers / curl

add(
    "http",
    "> GET /v1/models HTTP/2\n> Host: api.openai.com\n> Authorization: Bearer %s\n> User-Agent: curl/8.7.1\n> Accept: */*"
    % OAI,
    [("key", OAI)],
    ["User-Agent: curl/8.7.1", "Host: api.openai.com", "Authorization: Bearer "],
)
tok = drawn(48)
add(
    "http",
    'curl -sS -H "Authorization: Bearer %s" https://api.internal.corp/v2/jobs' % tok,
    [("key", tok)],
    ["https://api.internal.corp/v2/jobs"],
    note="opaque bearer",
)
tok = drawn(40)
add("http", "curl -H 'X-Api-Key: %s' https://api.example.org/items?limit=50" % tok, [("key", tok)], ["limit=50"])
add(
    "http",
    "curl -u deploy:%s https://artifacts.corp.net/api/npm/auth" % PW4,
    [("key", PW4)],
    ["https://artifacts.corp.net/api/npm/auth"],
)
add("http", 'curl --user "mira:%s" -X POST https://jenkins.corp.net/job/build' % PW1, [("key", PW1)], ["-X POST"])
b = base64_of("deploy:" + PW4)
add("http", "Authorization: Basic %s" % b, [("key", b)], ["Authorization: Basic "])
b = base64_of("mira:" + KNOWN[1])
add("http", "proxy-authorization: basic %s\r\n" % b, [("key", b)], [], note="contains a known secret, base64")
tok = drawn(64)
add("http", "Cookie: theme=dark; session=%s; lang=en" % tok, [("key", tok)], ["theme=dark", "lang=en"])
tok = "s%3A" + drawn(32) + "." + drawn(43)
add("http", "Set-Cookie: connect.sid=%s; Path=/; HttpOnly; SameSite=Lax" % tok, [("key", tok)], ["Path=/; HttpOnly"])
tok = hexadecimal(40)
add(
    "http",
    '{"headers": {"x-auth-token": "%s", "content-type": "application/json"}}' % tok,
    [("key", tok)],
    ["application/json"],
)
add(
    "http",
    'wget --header="PRIVATE-TOKEN: %s" https://gitlab.com/api/v4/projects' % GLP,
    [("key", GLP)],
    ["/api/v4/projects"],
)
tok = drawn(43, LETTERS + "-_")
add(
    "http",
    "GET /oauth/callback?code=%s&state=xyz HTTP/1.1" % tok,
    [("key", tok)],
    ["state=xyz"],
    policy=True,
    note="one-time OAuth code",
)
tok = hexadecimal(64)
add(
    "http",
    "https://bucket.s3.amazonaws.com/a.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s%%2F20260101%%2Fus-east-1%%2Fs3%%2Faws4_request&X-Amz-Expires=900&X-Amz-Signature=%s"
    % (AKIA, tok),
    [("key", AKIA), ("key", tok)],
    ["X-Amz-Expires=900"],
)
tok = drawn(43, LETTERS) + "%3D"
add(
    "http",
    "https://acct.blob.core.windows.net/c/f?sv=2024-11-04&se=2026-12-01T00%%3A00Z&sr=b&sp=r&sig=%s" % tok,
    [("key", tok)],
    ["sv=2024-11-04"],
)
add(
    "http",
    "https://maps.googleapis.com/maps/api/js?key=%s&libraries=places" % AIZA,
    [("key", AIZA)],
    ["libraries=places"],
)
tok = drawn(24) + "/" + drawn(24)
workspace, channel, SECRET = (
    drawn(8, string.ascii_uppercase + "0123456789"),
    drawn(8, string.ascii_uppercase + "0123456789"),
    drawn(24),
)
add(
    "http",
    "POST https://hooks.slack.com/services/T0%s/B0%s/%s" % (workspace, channel, SECRET),
    [("key", SECRET)],
    ["https://hooks.slack.com/"],
)
tok = drawn(68, LETTERS + "-_")
add(
    "http",
    "https://discord.com/api/webhooks/1180000000000000001/%s" % tok,
    [("key", tok)],
    ["discord.com/api/webhooks"],
)

# --- URLs with userinfo, connection strings

add(
    "url",
    "postgres://app:%s@db.internal:5432/prod?sslmode=require" % PW4,
    [("key", PW4)],
    ["db.internal:5432/prod?sslmode=require", "postgres://"],
)
add(
    "url",
    "mongodb+srv://svc_user:%s@cluster0.ab1cd.mongodb.net/?retryWrites=true" % PW4,
    [("key", PW4)],
    ["retryWrites=true"],
)
add("url", "redis://:%s@cache:6379/0" % PW4, [("key", PW4)], ["cache:6379/0"])
add("url", "git clone https://oauth2:%s@gitlab.com/acme/app.git" % GLP, [("key", GLP)], ["gitlab.com/acme/app.git"])
add("url", "remote: https://%s@github.com/acme/app.git (fetch)" % GHP, [("key", GHP)], ["github.com/acme/app.git"])
add(
    "url",
    "https://mira:%s@nexus.corp.net/repository/pypi/simple" % urllib.parse.quote(PW1, safe=""),
    [("key", urllib.parse.quote(PW1, safe=""))],
    ["nexus.corp.net/repository"],
)
add("url", "amqps://guest:p%40ss%2Fw0rd%21@mq.corp.net/vhost", [("key", "p%40ss%2Fw0rd%21")], ["mq.corp.net/vhost"])
add(
    "url",
    "Server=tcp:sql.corp.net,1433;Initial Catalog=app;User ID=sa;Password=%s;Encrypt=True;" % PW2,
    [("key", PW2)],
    ["Encrypt=True", "Initial Catalog=app"],
)
add(
    "url",
    "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=%s;EndpointSuffix=core.windows.net" % AZST,
    [("key", AZST)],
    ["EndpointSuffix=core.windows.net"],
)
add("url", "jdbc:postgresql://db:5432/app?user=app&password=%s&ssl=true" % PW4, [("key", PW4)], ["ssl=true"])
add("url", 'psql "host=db user=app password=%s dbname=prod"' % PW4, [("key", PW4)], ["dbname=prod"])
add("url", "mysql -h db -u root -p%s app" % PW4, [("key", PW4)], ["mysql -h db -u root"], note="-pPASSWORD glued")
add("url", "sshpass -p %s ssh ops@10.0.4.7" % PW4, [("key", PW4)], ["10.0.4.7"])
add("url", "PGPASSWORD=%s pg_dump -U app prod > dump.sql" % PW4, [("key", PW4)], ["pg_dump -U app prod"])
add(
    "url",
    "http://localhost:3000/users/@me and http://127.0.0.1:8080/a:b@c",
    [],
    ["http://localhost:3000/users/@me", "127.0.0.1:8080"],
    note="no userinfo",
)
add(
    "url",
    'npm install @scope/pkg@1.2.3 react@18.2.0 "lodash@^4.17.21"',
    [],
    ["@scope/pkg@1.2.3", "react@18.2.0", "lodash@^4.17.21"],
)

# --- JSON, escaped

add("json", '{"apiKey":"%s","model":"gpt-5"}' % OAI, [("key", OAI)], ['"model":"gpt-5"'])
add(
    "json",
    '{"arguments":"{\\"url\\":\\"https://x.io\\",\\"headers\\":{\\"Authorization\\":\\"Bearer %s\\"}}"}' % tok,
    [("key", tok)],
    ["https://x.io"],
    note="escaped quotes, one level",
)
add(
    "json",
    '"{\\\\\\"password\\\\\\":\\\\\\"%s\\\\\\",\\\\\\"user\\\\\\":\\\\\\"bob\\\\\\"}"' % PW4,
    [("key", PW4)],
    ["bob"],
    note="escaped quotes, two levels",
)
add(
    "json",
    '{"env":{"DB_PASS":"%s","NODE_ENV":"test"},"cmd":["npm","test"]}' % PW4,
    [("key", PW4)],
    ['"NODE_ENV":"test"'],
)
add(
    "json",
    json.dumps({"stdout": "export TOKEN=%s\nexport A=b\n" % tok}),
    [("key", tok)],
    ["export A=b"],
    note="literal \\n after secret",
)
add(
    "json",
    json.dumps({"note": "pw is " + KNOWN[0]}),
    [("known", json.dumps(KNOWN[0])[1:-1])],
    ["pw is"],
    note="known secret with an escaped quote",
)
add("json", '{"%s": {"calls": 12}}' % GHP, [("key", GHP)], ['"calls": 12'], note="secret as JSON key")
add(
    "json",
    '{"file_path": "/Users/mira.okafor/.ssh/id_ed25519", "content": "x"}',
    [("home", "/Users/mira.okafor")],
    [".ssh/id_ed25519"],
)
identity, first, SECRET, last = (hexadecimal(40), drawn(58), drawn(64), drawn(30))
add(
    "json",
    '{"private_key_id":"%s","private_key":"-----BEGIN PRIVATE KEY-----\\nMIIEvQ%s\\n%s\\n%s==\\n-----END PRIVATE KEY-----\\n","client_email":"svc@acme-prod.iam.gserviceaccount.com"}'
    % (identity, first, SECRET, last),
    [("key", SECRET), ("email", "svc@acme-prod.iam.gserviceaccount.com")],
    [],
    note="GCP service account, literal \\n in PEM",
)
add(
    "json",
    'data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\\"api_key\\": \\"%s\\"}"}}'
    % ANT,
    [("key", ANT)],
    ["content_block_delta"],
)

# --- ANSI, wrapping, line numbers, diffs

add("ansi", "\x1b[1mToken:\x1b[0m \x1b[32m%s\x1b[0m" % GHP, [("key", GHP)], ["Token:"])
add(
    "ansi",
    "\x1b[36mGITHUB_TOKEN\x1b[39m=\x1b[33m%s\x1b[31m%s\x1b[0m" % (GHP[:12], GHP[12:]),
    [("key", GHP[12:])],
    ["GITHUB_TOKEN"],
    note="colour code inside the secret",
)
add(
    "ansi",
    "grep: config:\x1b[32m\x1b[K3\x1b[m\x1b[K:key=\x1b[01;31m\x1b[Ksk-ant\x1b[m\x1b[K%s" % ANT[6:],
    [("key", ANT[6:])],
    ["config:"],
    note="grep --color match highlight inside the key",
)
add("ansi", "\\u001b[32m%s\\u001b[0m ok" % GHP, [("key", GHP)], ["ok"], note="JSON-escaped ANSI")
add("wrap", ANT[:72] + "\n" + ANT[72:], [("key", ANT[72:])], [], note="terminal hard wrap inside a key")
add("wrap", "token: %s\n       %s" % (OAI[:70], OAI[70:]), [("key", OAI[70:])], [], note="wrapped with indent")
add("wrap", "key %s\u200b%s end" % (GHP[:20], GHP[20:]), [("key", GHP[20:])], ["end"], note="zero-width space")
add(
    "wrap",
    "key %s… (truncated)" % ANT[:60],
    [("key", ANT[13:60])],
    ["(truncated)"],
    note="cut key, first 60 of 108 chars",
)
add(
    "lines",
    "     1→# secrets\n     2→ANTHROPIC_API_KEY=%s\n     3→DEBUG=1" % ANT,
    [("key", ANT)],
    ["DEBUG=1"],
    note="Read tool line numbers",
)
add("lines", "+OPENAI_API_KEY=%s\n-OPENAI_API_KEY=changeme\n+DEBUG=1" % OAI, [("key", OAI)], ["+DEBUG=1"], note="diff")
pem = [drawn(64, LETTERS + "+/") for _ in range(6)]
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\n" + "\n".join(pem) + "\n-----END OPENSSH PRIVATE KEY-----\n"
add("pem", PEM, [("key", pem[0]), ("key", pem[5])])
add(
    "pem",
    "\n".join("%6d→%s" % (number, line) for number, line in enumerate(PEM.strip().split("\n"), 1)),
    [("key", pem[0]), ("key", pem[5])],
    note="PEM with Read line numbers",
)
add(
    "pem",
    "\n".join("+" + line for line in PEM.strip().split("\n")),
    [("key", pem[0]), ("key", pem[5])],
    note="PEM in a diff",
)
add("pem", json.dumps({"out": PEM}), [("key", pem[0]), ("key", pem[5])], note="PEM JSON-escaped")
add("pem", "    " + PEM.strip().replace("\n", "\n    "), [("key", pem[0]), ("key", pem[5])], note="indented PEM (YAML)")
add(
    "pem",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,%s\n\n%s\n%s\n"
    % (hexadecimal(32).upper(), pem[1], pem[2]),
    [("key", pem[1]), ("key", pem[2])],
    note="no END line (head -5)",
)
add(
    "pem",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY%s\n%s\n=%s\n-----END PGP PRIVATE KEY BLOCK-----"
    % (drawn(60), pem[3], drawn(4)),
    [("key", pem[3])],
)
add(
    "pem",
    "-----BEGIN CERTIFICATE-----\nMIID%s\n%s\n-----END CERTIFICATE-----" % (drawn(60), pem[4]),
    [],
    [pem[4]],
    note="certificate is public",
)
add(
    "pem",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%s build@ci" % drawn(43, LETTERS + "+/"),
    [],
    ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"],
    note="public key",
    policy=True,
)

# --- config files

add("conf", "//registry.example.org/:_authToken=%s" % NPM, [("key", NPM)], ["//registry.example.org/:_authToken="])
u = str(uuid.UUID(int=CHANCE.getrandbits(128)))
add(
    "conf", "//npm.corp.net/:_authToken=%s\nalways-auth=true" % u, [("key", u)], ["always-auth=true"], note="UUID token"
)
b = base64_of("ci:" + PW4)
add(
    "conf",
    '//npm.corp.net/:_password="%s"\n//npm.corp.net/:_auth=%s' % (base64_of(PW4), b),
    [("key", base64_of(PW4)), ("key", b)],
    [],
)
add("conf", "[pypi]\nusername = __token__\npassword = %s\n" % PYPI, [("key", PYPI)], ["username = __token__"])
SECRET = str(uuid.UUID(int=CHANCE.getrandbits(128)))
add(
    "conf",
    "machine api.heroku.com\n  login mira@okafor.dev\n  password %s\n" % SECRET,
    [("key", SECRET), ("email", "mira@okafor.dev")],
    ["machine api.heroku.com"],
)
add("conf", "machine github.com login x password %s" % GHP, [("key", GHP)], ["machine github.com"])
add(
    "conf",
    "[default]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\nregion = eu-west-1"
    % (AKIA, AWSSK, AWSST),
    [("key", AKIA), ("key", AWSSK), ("key", AWSST)],
    ["region = eu-west-1"],
)
add(
    "conf",
    '{"AccessKeyId":"%s","SecretAccessKey":"%s","SessionToken":"%s","Expiration":"2026-01-01T00:00:00Z"}'
    % (ASIA, AWSSK, AWSST),
    [("key", ASIA), ("key", AWSSK), ("key", AWSST)],
    ["2026-01-01T00:00:00Z"],
)
b = base64_of("mira:" + PW4)
add("conf", '{"auths":{"ghcr.io":{"auth":"%s"}}}' % b, [("key", b)], ["ghcr.io"])
b = base64_of(drawn(40))
add("conf", "apiVersion: v1\nkind: Secret\ndata:\n  db-password: %s\ntype: Opaque" % b, [("key", b)], ["type: Opaque"])
add(
    "conf",
    "users:\n- name: admin\n  user:\n    client-key-data: %s\n    token: %s" % (base64_of(PEM), JWT),
    [("key", base64_of(PEM)[100:180]), ("key", JWT)],
    ["- name: admin"],
    note="kubeconfig, base64 PEM",
)
add("conf", "https://mira:%s@github.com" % GHP, [("key", GHP)], ["github.com"], note=".git-credentials")
add(
    "conf",
    'resource "aws_db_instance" "x" {\n  username = "app"\n  password = "%s"\n}' % PW2,
    [("key", PW2)],
    ['username = "app"'],
)
SECRET = drawn(32)
add("conf", '<add key="ApiKey" value="%s" />' % SECRET, [("key", SECRET)], ['<add key="ApiKey"'])
SECRET = drawn(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
add("conf", "otpauth://totp/Acme:mira?secret=%s&issuer=Acme" % SECRET, [("key", SECRET)], ["issuer=Acme"])
SECRET = url_safe(100)
add(
    "conf",
    '{"access_token":"%s","refresh_token":"1//0%s","expires_in":3599,"token_type":"Bearer"}' % (YA29, SECRET),
    [("key", YA29), ("key", "1//0" + SECRET)],
    ['"expires_in":3599', '"token_type":"Bearer"'],
)
add("jwt", "Authorization: Bearer %s" % JWT, [("key", JWT)])
add("jwt", "id_token=%s&expires_in=3600" % JWT, [("key", JWT)], ["expires_in=3600"])
add(
    "jwt",
    "decoded header eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 is fine",
    [],
    ["is fine"],
    policy=True,
    note="JWT header alone",
)

# --- must stay

SHA1 = hashlib.sha1(b"x").hexdigest()
SHA256 = hashlib.sha256(b"y").hexdigest()
SHA512 = base64.b64encode(hashlib.sha512(b"z").digest()).decode()
SESSION = str(uuid.UUID(int=CHANCE.getrandbits(128), version=4))
CALL = "toolu_01" + drawn(22)
STAYING = [
    ("git sha", "commit %s\nAuthor: CI <noreply@github.com>\n\n    bump" % SHA1, [SHA1, "noreply@github.com"]),
    ("short sha", "3f2a91c..b7e04dd  main -> main", ["3f2a91c..b7e04dd"]),
    ("uuid", "session_id: %s" % SESSION, [SESSION]),
    ("sha256", "sha256:%s" % SHA256, [SHA256]),
    ("docker digest", "FROM node:20@sha256:%s" % SHA256, [SHA256]),
    (
        "npm integrity",
        '"integrity": "sha512-%s",\n"resolved": "https://registry.example.org/lodash/-/lodash-4.17.21.tgz"' % SHA512,
        [SHA512, "lodash-4.17.21.tgz"],
    ),
    ("yarn checksum", "  checksum: 10c0/%s" % hashlib.sha512(b"q").hexdigest(), [hashlib.sha512(b"q").hexdigest()]),
    ("go.sum", "golang.org/x/crypto v0.35.0 h1:%s=" % drawn(43, LETTERS + "+/"), ["golang.org/x/crypto v0.35.0 h1:"]),
    ("pip hash", "    --hash=sha256:%s \\" % SHA256, [SHA256]),
    ("poetry lock", 'content-hash = "%s"' % SHA256, [SHA256]),
    ("cargo lock", 'checksum = "%s"' % SHA256, [SHA256]),
    (
        "b64 png",
        "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA%s==)" % drawn(4000, LETTERS + "+/"),
        ["data:image/png;base64,iVBORw0KGgo"],
    ),
    (
        "anthropic ids",
        '{"id":"msg_01%s","tool_use_id":"%s","request_id":"req_011%s"}' % (drawn(22), CALL, drawn(21)),
        [CALL],
    ),
    (
        "openai ids",
        '{"id":"chatcmpl-%s","call_id":"call_%s","system_fingerprint":"fp_%s"}'
        % (drawn(29), drawn(24), hexadecimal(10)),
        ["call_", "chatcmpl-"],
    ),
    (
        "thinking signature",
        '{"type":"thinking","thinking":"ok","signature":"EqQBCkYIBRgC%s=="}' % drawn(300, LETTERS + "+/"),
        ['"thinking":"ok"'],
    ),
    (
        "usage",
        '"usage":{"input_tokens":4096,"cache_read_input_tokens":128000,"max_tokens":8192,"output_tokens":77}',
        ['"input_tokens":4096', '"max_tokens":8192'],
    ),
    (
        "code type",
        "interface User { password: string; apiKey?: string; token: number }",
        ["password: string", "apiKey?: string"],
    ),
    (
        "code env",
        'api_key = os.environ["OPENAI_API_KEY"]\nclient = OpenAI(api_key=os.getenv("OPENAI_API_KEY"))',
        ['os.environ["OPENAI_API_KEY"]', 'os.getenv("OPENAI_API_KEY")'],
    ),
    (
        "code process.env",
        'const token = process.env.GITHUB_TOKEN ?? config.get("github.token")',
        ["process.env.GITHUB_TOKEN", 'config.get("github.token")'],
    ),
    ("gh actions", "GH_TOKEN: ${{ secrets.GITHUB_TOKEN }}", ["${{ secrets.GITHUB_TOKEN }}"]),
    (
        "shell var",
        'curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASS" https://x.io',
        ["Bearer $TOKEN", '"$USER:$PASS"'],
    ),
    (
        "placeholder",
        "ANTHROPIC_API_KEY=your-api-key-here\nOPENAI_API_KEY=<your key>\nTOKEN=xxxxxxxx",
        ["your-api-key-here", "<your key>"],
    ),
    ("masked", "Using key sk-ant-…Q9AA (masked) and ghp_****", ["sk-ant-…Q9AA", "ghp_****"]),
    ("css", ".token-string { color: #a31515 } /* secret: none */", [".token-string { color: #a31515 }"]),
    (
        "fn",
        "def check_password(password, hashed_password): return bcrypt.checkpw(password, hashed_password)",
        ["check_password(password, hashed_password)"],
    ),
    ("regex", 're.compile(r"sk-[a-zA-Z0-9]{20,}")', ["sk-[a-zA-Z0-9]{20,}"]),
    (
        "kv words",
        'primary_key=True, foreign_key="users.id", key="sidebar", sort_key=lambda x: x.name',
        ["primary_key=True", 'foreign_key="users.id"', 'key="sidebar"'],
    ),
    (
        "tokens prose",
        "The token limit is 200000 and the secret to good tests is isolation.",
        ["The token limit is 200000", "the secret to good tests is isolation"],
    ),
    (
        "auth prose",
        'Authentication failed: password authentication failed for user "app"',
        ['password authentication failed for user "app"'],
    ),
    ("etag", 'ETag: W/"%s"' % hexadecimal(40), ["ETag: W/"]),
    ("trace", "traceparent: 00-%s-%s-01" % (hexadecimal(32), hexadecimal(16)), ["traceparent: 00-"]),
    ("k8s pod", "pod/api-7d9f8b6c5d-x2x9k 1/1 Running", ["pod/api-7d9f8b6c5d-x2x9k"]),
    (
        "model names",
        "claude-opus-4-5-20251101, gpt-4o-2024-08-06, sk-learn, sk-SK locale",
        ["claude-opus-4-5-20251101", "sk-learn", "sk-SK"],
    ),
    ("css sourcemap", "//# sourceMappingURL=app.3f9d8c2a1b.js.map", ["app.3f9d8c2a1b.js.map"]),
    (
        "nix",
        "/nix/store/%s-openssl-3.0.14" % drawn(32, "0123456789abcdfghijklmnpqrsvwxyz"),
        ["-openssl-3.0.14", "/nix/store/"],
    ),
    ("eth", "0x%s" % hexadecimal(40), ["0x"]),
    (
        "i18n",
        'passwordLabel: "Enter your password", tokenExpired: "Your token has expired"',
        ["Enter your password", "Your token has expired"],
    ),
    ("test fixture", 'assert login("alice", "wonderland") == 200', ['assert login("alice", "wonderland") == 200']),
    (
        "minified",
        '!function(e,t){"use strict";var n=t.key||e.token,r=t.secret(n)}(window,document);',
        ["n=t.key||e.token"],
    ),
    (
        "uv lock",
        '{ url = "https://files.example.org/packages/%s/%s/%s/idna-3.10.tar.gz", hash = "sha256:%s" }'
        % (hexadecimal(2), hexadecimal(2), hexadecimal(60), SHA256),
        [SHA256, "idna-3.10.tar.gz"],
    ),
    (
        "subresource",
        '<script src="x.js" integrity="sha384-%s"></script>' % drawn(64, LETTERS + "+/"),
        ['integrity="sha384-'],
    ),
    ("ls tree", "100644 blob %s\tREADME.md" % SHA1, [SHA1]),
    (
        "slug path",
        "src/components/AuthTokenProvider/useSecretKeyRotation.test.tsx:42",
        ["useSecretKeyRotation.test.tsx:42"],
    ),
]
for n, t, k in STAYING:
    add("keep:" + n, t, [], k)

# --- IPs

add(
    "ip",
    "Connecting to 203.0.113.9... wait, 51.15.42.17:443 established",
    [("ip", "51.15.42.17")],
    ["203.0.113.9"],
    note="203.0.113/24 is documentation space (not global)",
)
add(
    "ip",
    "sshd[811]: Accepted publickey for mira from 82.64.12.7 port 51512 ssh2",
    [("ip", "82.64.12.7")],
    ["port 51512"],
)
add(
    "ip",
    "inet 192.168.1.23 netmask 255.255.255.0 broadcast 192.168.1.255\ninet 127.0.0.1",
    [],
    ["192.168.1.23", "255.255.255.0", "127.0.0.1"],
)
add("ip", "listening on 0.0.0.0:8080, [::]:8080, http://[::1]:3000", [], ["0.0.0.0:8080", "[::]:8080", "[::1]:3000"])
add("ip", "inet6 fe80::1c2b:3d4f%en0 and fd12:3456:789a::1 (ULA)", [], ["fe80::1c2b:3d4f", "fd12:3456:789a::1"])
add(
    "ip",
    "AAAA 2a01:e0a:2d4:9b10:1c2b:ff:fe3d:4f5a via 2001:db8::1",
    [("ip", "2a01:e0a:2d4:9b10:1c2b:ff:fe3d:4f5a")],
    ["2001:db8::1"],
)
add("ip", "http://[2a01:e0a:2d4:9b10::5]:8443/health", [("ip", "2a01:e0a:2d4:9b10::5")], [":8443/health"])
add(
    "ip",
    "tailscale ip 100.101.102.103; docker 172.17.0.2; 10.1.2.3; link-local 169.254.169.254",
    [],
    ["100.101.102.103", "172.17.0.2", "10.1.2.3", "169.254.169.254"],
)
add("ip", "nmap 45.33.32.0/24, host 45.33.32.156", [("ip", "45.33.32.156")], ["nmap"])
add(
    "ip",
    "Chrome/126.0.6478.127 Safari/537.36 and Edg/126.0.2592.87",
    [],
    ["Chrome/126.0.6478.127"],
    note="browser version, 4 numbers (6478>255)",
)
add(
    "ip",
    "Upgraded foo from v1.2.3.4 to 1.2.3.5, assembly version 4.0.30319.42000",
    [],
    ["v1.2.3.4", "1.2.3.5"],
    note="version numbers that parse as public IPs",
)
add(
    "ip",
    '"version": "12.4.0.1", pip install tensorrt==10.0.1.6 nvidia-cublas-cu12==12.1.3.1',
    [],
    ["12.4.0.1", "tensorrt==10.0.1.6", "nvidia-cublas-cu12==12.1.3.1"],
    note="4-part versions",
)
add("ip", 'AssemblyVersion("2.5.1.0") file-5.6.7.8-py3.whl chrome 99.0.0.1', [], ["2.5.1.0", "file-5.6.7.8-py3.whl"])
add("ip", "OID 1.3.6.1.4.1.311.21.8 and section 4.2.1.3 of the spec", [], ["1.3.6.1.4.1.311.21.8", "section 4.2.1.3"])
add(
    "ip",
    "12:34:56.789 ab:cd:ef:01:23:45 std::vector::size C::D::e 10:20 2026-01-01T12:34:56",
    [],
    ["12:34:56.789", "ab:cd:ef:01:23:45", "std::vector::size"],
)
add("ip", "dns 8.8.8.8 / 1.1.1.1", [], ["8.8.8.8", "1.1.1.1"], policy=True, note="well-known resolvers")
add("ip", "X-Forwarded-For: 93.23.187.11, 10.0.0.4", [("ip", "93.23.187.11")], ["10.0.0.4"])
add(
    "ip",
    '{"ip":"185.199.111.153","country":"FR"} from ::ffff:93.23.187.11',
    [("ip", "185.199.111.153"), ("ip", "93.23.187.11")],
    ['"country":"FR"'],
)
add(
    "ip",
    "user@93-23-187-11.rev.isp.fr and ip-54-12-9-33.eu-west-3.compute.internal",
    [("ip", "93-23-187-11")],
    [],
    policy=True,
    note="IP in reverse-DNS names",
)

# --- cards

v = card_number("4", 16)
m = card_number("53", 16)
a = card_number("37", 15)
bad = v[:-1] + str((int(v[-1]) + 3) % 10)
add("card", "card %s exp 04/29" % v, [("card", v)], ["exp 04/29"])
add("card", "Visa: %s" % in_fours(v), [("card", in_fours(v))])
add("card", "MC %s" % in_fours(m).replace(" ", "-"), [("card", in_fours(m).replace(" ", "-"))])
add("card", "amex %s %s %s" % (a[:4], a[4:10], a[10:]), [("card", "%s %s %s" % (a[:4], a[4:10], a[10:]))])
add("card", '{"number":"%s","cvc":"123"}' % m, [("card", m)], ['"number":'])
add("card", "order %s shipped" % bad, [], [bad], note="fails Luhn")
add("card", "%s" % in_fours(bad), [], [in_fours(bad)], note="fails Luhn, spaced")
ts = "1764537600" + drawn(3, "0123456789")
add("card", "ts=%s ns=%s" % (ts, "1764537600123456789"), [], [ts, "1764537600123456789"], note="epoch ms/ns")
sf = card_number("118", 19)
add("card", "discord id %s" % sf, [], [sf], note="Luhn-valid snowflake, not a card prefix")
hx = card_number("4", 16)
add("card", "sha %s%s" % (hx, hexadecimal(24) + "f"), [], [hx], note="digits inside a hash")
fraction = card_number("4", 16)
add("card", "0.%s e-3, size %s bytes" % (fraction, card_number("5", 12)), [], ["0." + fraction], note="float fraction")
add(
    "card",
    "4111111111111111 is the Stripe test card; 4242 4242 4242 4242 too",
    [],
    ["4242 4242 4242 4242"],
    policy=True,
    note="test cards",
)

# --- phones

add("phone", "Call me on +33 6 12 34 56 78 tomorrow", [("phone", "+33 6 12 34 56 78")], ["tomorrow"])
add("phone", "tel:+14155550132", [("phone", "+14155550132")], ["tel:"])
add("phone", "Phone: (415) 555-0132 ext. 4", [("phone", "(415) 555-0132")])
add(
    "phone",
    "Mobile 07911 123456 (UK)",
    [("phone", "07911 123456")],
    policy=True,
    note="national format, region unknown",
)
add(
    "phone",
    "WhatsApp +44 7911 123456; office +1-212-555-0187",
    [("phone", "+44 7911 123456"), ("phone", "+1-212-555-0187")],
)
add("phone", "06.12.34.56.78", [("phone", "06.12.34.56.78")], policy=True, note="French national")
add("phone", '{"phone":"+4915123456789"}', [("phone", "+4915123456789")], ['"phone":'])
add("phone", "signature: Mira, 212-555-0187", [("phone", "212-555-0187")])
add("phone", "duration 1764537600 1764537600123 20261130T205207Z", [], ["1764537600", "20261130T205207Z"])
add("phone", "src/app.ts:1234:56 lines 1024-2048, bytes=0-1048575", [], ["1024-2048", "bytes=0-1048575"])
add("phone", "2026-11-30 20:52:07 +0000, 30/11/2026, 2026.11.30", [], ["2026-11-30 20:52:07 +0000"])
add("phone", "range 1000000000-2000000000; id 5551234567; pid 4155550132", [], ["1000000000-2000000000", "5551234567"])
add("phone", "@@ -1204,17 +1204,23 @@ +12345678 insertions", [], ["@@ -1204,17 +1204,23 @@"])
add("phone", "matrix 555 123 4567 890 ; x+4155550132*y", [], ["555 123 4567 890"], policy=True)
add(
    "phone",
    "ISBN 978-3-16-148410-0, build 2024.1.1234567, 192.168.100.200",
    [],
    ["978-3-16-148410-0", "2024.1.1234567"],
)
add("phone", "total 1 234 567 890 bytes; 3.14159265358979; -122.41941550", [], ["3.14159265358979", "-122.41941550"])
add("phone", "npm warn 1.800.555.0132", [], [], policy=True)

# --- emails

add(
    "email",
    "Mail mira@okafor.dev or mira.okafor+spam@sub.example-corp.co.uk.",
    [("email", "mira@okafor.dev"), ("email", "mira.okafor+spam@sub.example-corp.co.uk")],
    ["Mail "],
)
add(
    "email",
    "Author: M Okafor <1234567+mokafor@users.noreply.github.com>",
    [("email", "1234567+mokafor@users.noreply.github.com")],
    ["Author:"],
)
add(
    "email",
    "git clone git@github.com:acme/app.git && ssh git@gitlab.com",
    [],
    ["git@github.com:acme/app.git", "git@gitlab.com"],
)
add("email", "Co-Authored-By: Claude <noreply@anthropic.com>", [], ["noreply@anthropic.com"])
add(
    "email",
    "mira@Miras-MacBook-Pro app % ls",
    [("name", "mira@Miras-MacBook-Pro")],
    ["app % ls"],
    note="shell prompt: login and host name",
)
add("email", "root@3f2a91cb7e04:/app# pytest -q", [], ["root@3f2a91cb7e04:/app#"])
add("email", "ssh deploy@build-01 uptime", [], ["deploy@build-01"])
add(
    "email",
    'import { foo } from "@acme/ui"; @media (max-width: 5px) @app.route("/x") user@v1.2.3',
    [],
    ["@acme/ui", '@app.route("/x")'],
)
add("email", 'mailto:jo%40corp.io and "jo@corp.io"', [("email", "jo@corp.io")], ["mailto:"])
add("email", "https://jo@corp.io/path and jo [at] corp dot io", [("email", "jo@corp.io")], ["/path"], policy=True)
add(
    "email",
    '{"email":"o\'brien.kate@exämple.fr"}',
    [("email", "brien.kate@exämple.fr")],
    ['"email":'],
    note="IDN and apostrophe",
)
add("email", "icon@2x.png logo@3x.webp sprite@2x.min.css", [], ["icon@2x.png", "logo@3x.webp"])
add(
    "email",
    "pkg@npm:1.2.3 react-dom@18.3.1 @types/node@20.1.0.tgz lodash@4.17.21.tgz",
    [],
    ["react-dom@18.3.1", "lodash@4.17.21.tgz"],
)
add("email", "user@example.com in the docs", [], ["user@example.com"], policy=True, note="reserved domain")
add(
    "email",
    "Subject: hi\\nFrom: kate.ng@corp.io\\nTo: ops",
    [("email", "kate.ng@corp.io")],
    ["Subject: hi"],
    note="literal \\n before From",
)
add(
    "email",
    "\\nkate.ng@corp.io wrote",
    [("email", "kate.ng@corp.io")],
    ["wrote"],
    note="literal \\n glued to the address: local part must not eat the n",
)
add("email", "systemctl status getty@tty1.service user@1000.service", [], ["getty@tty1.service", "user@1000.service"])

# --- home paths

add("home", "cd /Users/mira.okafor/code/app && ls", [("home", "/Users/mira.okafor")], ["/code/app && ls"])
add("home", "/home/mira/.config/app.toml: permission denied", [("home", "/home/mira")], [".config/app.toml"])
add("home", "C:\\Users\\Mira Okafor\\AppData\\Local\\Temp", [("home", "Mira Okafor")], ["AppData\\Local\\Temp"])
add(
    "home",
    json.dumps({"cwd": "C:\\Users\\Mira Okafor\\src"}),
    [("home", "Mira Okafor")],
    ["src"],
    note="JSON-escaped backslashes",
)
add(
    "home",
    json.dumps(json.dumps({"cwd": "C:\\Users\\Mira Okafor\\src"})),
    [("home", "Mira Okafor")],
    ["src"],
    note="double-escaped",
)
add(
    "home",
    "~/.claude/projects/-Users-mira-okafor-code-app/%s.jsonl" % SESSION,
    [("home", "-Users-mira-okafor")],
    ["-code-app", SESSION],
    note="encoded project dir (/ and . become -)",
)
add("home", ".claude/projects/-home-mira-code-app/x.jsonl", [("home", "-home-mira-")], ["code-app"])
add("home", "file:///Users/mira.okafor/report.html", [("home", "mira.okafor")], ["report.html"])
add("home", "file:///C:/Users/Mira%20Okafor/report.html", [("home", "Mira%20Okafor")], ["report.html"])
add("home", "vscode://file/%2FUsers%2Fmira.okafor%2Fx.py", [("home", "mira.okafor")], ["x.py"])
add("home", "/mnt/c/Users/Mira Okafor/x and /c/Users/Mira Okafor/y", [("home", "Mira Okafor")], ["/x", "/y"])
add("home", "C:\\Users\\MIRAOK~1\\AppData", [("home", "MIRAOK~1")], ["AppData"], note="8.3 short name")
add(
    "home",
    "PATH=/usr/bin:/Users/mira.okafor/.cargo/bin:/opt/bin",
    [("home", "/Users/mira.okafor")],
    ["/usr/bin:", ".cargo/bin:/opt/bin"],
)
add(
    "home",
    "/Users/mira.okaforx/other and /home/miranda/x",
    [],
    ["/home/miranda/x"],
    note="prefix of another user must not turn into ~x",
    policy=True,
)
add(
    "home",
    "/home/runner/work/app /home/ubuntu/x /root/.cache /Users/Shared/y",
    [],
    ["/home/runner/work/app", "/root/.cache", "/Users/Shared/y"],
)
add("home", "/var/folders/zz/T/ /private/tmp /workspace/home/mira", [], ["/var/folders/zz/T/"], policy=True)
add(
    "home",
    "/home/bob/project on the build host",
    [("home", "/home/bob")],
    ["project on the build host"],
    policy=True,
    note="someone else's home",
)
add(
    "home",
    "/Volumes/Data/Users/mira.okafor/x and /System/Volumes/Data/Users/mira.okafor/y",
    [("home", "mira.okafor")],
    ["/x", "/y"],
)
add(
    "home",
    "drwxr-xr-x  5 mira  staff  160 Nov 30 20:52 src",
    [("name", "5 mira ")],
    ["staff", "src"],
    policy=True,
    note="ls -l owner",
)
add("home", "C:/Users/mira okafor/X (case)", [("home", "mira okafor")], ["(case)"], note="Windows is case-insensitive")

# --- names

add(
    "name",
    "Hi, Mira Okafor here; cc Mark Lindqvist.",
    [("name", "Mira Okafor"), ("name", "Mark Lindqvist")],
    ["Hi, ", " here; cc "],
)
add(
    "name",
    "Rendered Markdown, bookmark, Benchmark, markup, remark, MARKER",
    [],
    ["Markdown", "bookmark", "Benchmark", "remark", "MARKER"],
)
add(
    "name",
    "Mark the task as done. mark all. mark_as_read()",
    [],
    ["mark_as_read()"],
    policy=True,
    note="given name is also a verb",
)
add("name", "Will this work? It will. Free Will", [], ["Will this work?"], policy=True, note='"Will" not listed alone')
add(
    "name",
    "MIRA OKAFOR and mira okafor and Okafor, Mira",
    [("name", "MIRA OKAFOR"), ("name", "mira okafor"), ("name", "Okafor")],
    [" and "],
)
add(
    "name",
    "mira-okafor.md mira_okafor.py MiraOkafor miraokafor",
    [("name", "mira-okafor"), ("name", "mira_okafor"), ("name", "MiraOkafor")],
    [".md", ".py"],
    note="joined forms of a full name",
)
add(
    "name",
    "Zoë Brontë / Zoë Brontë / Zoe Bronte",
    [("name", "Zoë Brontë"), ("name", "Zoë Brontë")],
    [],
    note="NFC and NFD",
)
add("name", "你好，我是李小龍。", [("name", "李小龍")], ["你好"], note="CJK: no word boundaries")
add(
    "name",
    "Jean-Luc O'Neil, Jean-Luc O’Neil",
    [("name", "Jean-Luc O'Neil"), ("name", "Jean-Luc O’Neil")],
    [],
    note="curly apostrophe",
)
add(
    "name",
    "Mira\xa0Okafor and Mira  Okafor and Mira\nOkafor",
    [("name", "Okafor")],
    [],
    note="NBSP, double space, newline",
)
add("name", "Miranda, Admiral, Mirage, Miracle", [], ["Miranda", "Admiral", "Mirage", "Miracle"])
add("name", "Will Ng reviewed; string, running, Ng-repeat", [("name", "Will Ng")], ["string", "running"])
add("name", "Mira's laptop, @Mira, #Okafor, (Mira)", [("name", "Mira"), ("name", "Okafor")], ["laptop"])
add(
    "name",
    '{"author":{"name":"Mira Okafor"},"Mira Okafor":1}',
    [("name", "Mira Okafor")],
    ['"author"'],
    note="name as JSON key",
)
add("name", "camel: miraService, getMarkById, MarkdownIt", [], ["getMarkById", "MarkdownIt"], policy=True)

# --- known secrets in variants

add("known", "the pass is %s ok" % KNOWN[0], [("known", KNOWN[0])], ["ok"])
add(
    "known",
    "x %s y" % urllib.parse.quote(KNOWN[0], safe=""),
    [("known", urllib.parse.quote(KNOWN[0], safe=""))],
    ["x ", " y"],
    note="url-encoded",
)
add("known", "x %s y" % base64_of(KNOWN[1]), [("known", base64_of(KNOWN[1]))], ["x "], note="base64")
add(
    "known",
    "x %s y" % base64_of("mira:" + KNOWN[1] + "!"),
    [("known", base64_of("mira:" + KNOWN[1] + "!")[8:24])],
    ["x "],
    note="base64 at another alignment",
)
add("known", "x %s y" % KNOWN[1].encode().hex(), [("known", KNOWN[1].encode().hex())], ["x "], note="hex")
add(
    "known",
    "<p>%s</p>" % KNOWN[0].replace("&", "&amp;").replace('"', "&quot;"),
    [("known", "tr0ub4dor&amp;3")],
    ["<p>"],
    note="HTML-escaped",
)
add("known", "pass: %s" % KNOWN[2], [("known", KNOWN[2])], ["pass: "], note="passphrase with spaces")
add("known", "q=%s" % KNOWN[2].replace(" ", "+"), [("known", KNOWN[2].replace(" ", "+"))], ["q="], note="plus-encoded")
add(
    "known",
    "url?x=%s" % urllib.parse.quote(KNOWN[3], safe=""),
    [("known", urllib.parse.quote(KNOWN[3], safe=""))],
    ["url?x="],
)
add(
    "known",
    "raw %s and json %s" % (KNOWN[3], KNOWN[3].replace("/", "\\/")),
    [("known", KNOWN[3]), ("known", KNOWN[3].replace("/", "\\/"))],
    ["raw "],
    note="PHP-style \\/",
)
add(
    "known",
    "port 3000, true story, dev server, postgres image, hunter22!",
    [("known", "hunter22")],
    ["port 3000", "true story", "dev server", "postgres image"],
    note="short/common .env values must not be searched everywhere",
)
add(
    "known",
    "%s\n%s" % (KNOWN[1][:9], KNOWN[1][9:]),
    [("known", KNOWN[1][9:])],
    [],
    note="wrapped known secret",
    policy=True,
)
add(
    "known",
    "\x1b[32m%s\x1b[0m%s" % (KNOWN[1][:6], KNOWN[1][6:]),
    [("known", KNOWN[1][6:])],
    [],
    note="ANSI inside a known secret",
)
add("known", KNOWN[1].upper(), [("known", KNOWN[1].upper())], [], policy=True, note="upper-cased")
add("known", "7f3kQ-9zLm", [], [], policy=True, note="prefix of a known secret")
