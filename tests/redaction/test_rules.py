"""One line for each thing that a rule was made for, or has to leave alone."""

from __future__ import annotations

import pytest

from redaction.known_person import KEY, MIRA, OPAQUE
from trailbook.redaction.replacing import redact_text

WORD = "Xk7pQ2!vw"
HEX = "0f3e9d1c7b5a2846" * 2

GOES = [
    # names that say secret: shells, code, settings, markup, prose
    (f'setx OPENAI_API_KEY "{OPAQUE}"', 'setx OPENAI_API_KEY "[key]"'),
    (f"$Env:API_TOKEN='{OPAQUE}'", "$Env:API_TOKEN='[key]'"),
    (f'os.environ["SECRET_KEY"] = "{OPAQUE}"', 'os.environ["SECRET_KEY"] = "[key]"'),
    (f'config.set("api_key", "{OPAQUE}")', 'config.set("api_key", "[key]")'),
    (f'token: str = "{OPAQUE}"', 'token: str = "[key]"'),
    (f"const SECRET = `{OPAQUE}`", "const SECRET = `[key]`"),
    (f"headers={{'X-API-Key': '{OPAQUE}'}}", "headers={'X-API-Key': '[key]'}"),
    (f'password = "{WORD}";', 'password = "[key]";'),
    (f"<password>{OPAQUE}</password>", "<password>[key]</password>"),
    (f'<property name="password" value="{WORD}"/>', '<property name="password" value="[key]"/>'),
    (f"- name: DB_PASSWORD\n  value: {WORD}", "- name: DB_PASSWORD\n  value: [key]"),
    (f'{{"name": "API_KEY", "value": "{OPAQUE}"}}', '{"name": "API_KEY", "value": "[key]"}'),
    (f'{{\\"password\\":\\"{WORD}\\"}}', '{\\"password\\":\\"[key]\\"}'),
    (f'{{\\\\\\"token\\\\\\": \\\\\\"{OPAQUE}\\\\\\"}}', '{\\\\\\"token\\\\\\": \\\\\\"[key]\\\\\\"}'),
    (f"&quot;apiKey&quot;: &quot;{OPAQUE}&quot;", "&quot;apiKey&quot;: &quot;[key]&quot;"),
    (f"password%3D{OPAQUE}&x", "password%3D[key]&x"),
    (f"| API_KEY | {OPAQUE} |", "| API_KEY | [key] |"),
    (f"api key: `{OPAQUE}`", "api key: `[key]`"),
    (f"my password is {WORD}.", "my password is [key]."),
    (f"DB_PASS={WORD}", "DB_PASS=[key]"),
    ("export DB_PASSWORD=swordfish", "export DB_PASSWORD=[key]"),
    ("PGPASSWORD=swordfish psql", "PGPASSWORD=[key] psql"),
    ("x?user=app&password=SbUkFNVOeorxrabm&ssl=true", "x?user=app&password=[key]&ssl=true"),
    ("The `gho_" + "RWUPieGxKZtBGRwWHuahCTCwtIzvYURKFhP6` value", "The `[key]` value"),
    (f"twilio auth token: {HEX}", "twilio auth token: [key]"),
    # where it stands: headers, addresses, commands
    (f"Authorization: {OPAQUE}", "Authorization: [key]"),
    (f'curl -H "Authorization: token {OPAQUE}"', 'curl -H "Authorization: token [key]"'),
    (f'Authorization: Digest username="u", response="{HEX}"', 'Authorization: Digest username="u", response="[key]"'),
    ("Proxy-Authorization: Basic dXNlcjpodW50ZXIzMw==", "Proxy-Authorization: Basic [key]"),
    (f"cookie: a=b; session_id={OPAQUE}", "cookie: a=b; session_id=[key]"),
    (f"https://user:{OPAQUE}@proxy.corp:3128", "https://[key]@proxy.corp:3128"),
    (f"mongodb://u:{WORD}@h1,h2/db", "mongodb://[key]@h1,h2/db"),
    (f"wget --http-password={WORD} https://x.io", "wget --http-password=[key] https://x.io"),
    (f"--token {OPAQUE}", "--token [key]"),
    (f'["--api-key", "{OPAQUE}"]', '["--api-key", "[key]"]'),
    (f"redis-cli -h x -a {WORD} ping", "redis-cli -h x -a [key] ping"),
    (f"docker login -u me -p {OPAQUE} ghcr.io", "docker login -u me -p [key] ghcr.io"),
    (f"openssl enc -pass pass:{WORD} -in x", "openssl enc -pass pass:[key] -in x"),
    (f"CREATE USER x IDENTIFIED BY '{WORD}';", "CREATE USER x IDENTIFIED BY '[key]';"),
    (f"machine h login u password {WORD}", "machine h login u password [key]"),
    (f"aws configure set aws_secret_access_key {OPAQUE}", "aws configure set aws_secret_access_key [key]"),
    ("kind: Secret\ndata:\n  db: c3dvcmRmaXNo\ntype: Opaque", "kind: Secret\ndata:\n  db: [key]\ntype: Opaque"),
    # shapes behind and before anything
    (f"\\n{KEY}\\n", "\\n[key]\\n"),
    (f'"\\u0022{KEY}\\u0022"', '"\\u0022[key]\\u0022"'),
    (f"key%3D{KEY}%26", "key%3D[key]%26"),
    (f"a\u200b{KEY}", "a\u200b[key]"),
    (f"\x1b[1mfoo\x1b[0m{KEY}", "\x1b[1mfoo\x1b[0m[key]"),
    (f"{KEY[:20]}\x1b[31m{KEY[20:]}", "[key]"),
    # the person
    ("x=hunter22&y", "x=[password]&y"),
    ("mira@10.0.0.4:~$", "[name]@10.0.0.4:~$"),
    ("Mira_Okafor_CV.pdf", "[name]_CV.pdf"),
    ("-I/home/mira/include", "-I/home/[name]/include"),
    ("/Volumes/Data/home/mira/x", "/Volumes/Data/home/[name]/x"),
    ("file:///home/mira/x", "file://~/x"),
    ("C:\\\\Users\\\\Mira Okafor\\\\x", "~\\\\x"),
    ("c:\\users\\mira okafor\\x", "~\\x"),
    ("/mnt/c/Users/Mira Okafor/x", "~/x"),
    ("C--Users-Mira-Okafor-src", "~-src"),
    ("~/.claude/projects/-home-mira-code/x", "~/.claude/projects/~-code/x"),
    # numbers
    ("call +1 (415) 555-2671 now", "call [phone] now"),
    ("+49 1512 3456789", "[phone]"),
    ("tel: 030 12345678", "tel: [phone]"),
    ("6011111111111117", "[card]"),
    ("3782 822463 10005", "[card]"),
    ("4012 8888 8888 1881 4012-8888-8888-1881", "[card] [card]"),
    ("http://93.184.216.34:8080/x", "http://[address]:8080/x"),
    ("ssh root@51.15.42.17", "ssh root@[address]"),
    ("peer=2a01:e0a::5 up", "peer=[address] up"),
    ("<kate.ng@corp.co.uk>", "<[email]>"),
    ("\\nkate@corp.io", "\\n[email]"),
]

STAYS = """
password: string|token_count: 12|max_tokens=4096|"token": null|secret = os.getenv("X")|password = getpass.getpass()
token = tokens[0]|api_key=settings.API_KEY|apiKey: process.env.API_KEY|api_key = "YOUR_API_KEY"|password: ********
Authorization: Bearer <token>|Authorization: Bearer ${TOKEN}|-H "Authorization: Bearer $(cat x)"
"password": "password"|type="password"|name="password" id="password"|forgot password? Reset it|passwords: 3
tokens: 1234 in, 567 out|next_token: "abc123def456"|"key": "a1b2c3d4"
session_id=550e8400-e29b-41d4-a716-446655440000|sha256-abc123def456|docker run -u 1000:1000 x|mkdir -p src/app
git push -u origin main:main|ssh -p 2222 host|mysql -P 3306 -p|npm run x --token|const password = usePassword();
if (token === "EOF")|secretName: my-app-secret|x = {"password": hash_password(pw)}
password_field.send_keys(password)|Basic authentication is used|Bearer token authentication
Set-Cookie: lang=en; Path=/|?key=value|curl -u "$USER:$PASS" x|https://user:pass@host
postgres://user:password@localhost/db|http://localhost:3000/@me|[key] and [email 2] and ~/x
[password]: Zk81Pq47Rt26Vw93|API_KEY=|<input type="password">|setPassword(e.target.value)|Token("IDENT", "abc1")
PWD=/srv/app|SSH_AUTH_SOCK=/run/ssh-a1b2/agent.1|GOOGLE_APPLICATION_CREDENTIALS=/srv/key.json
credentials: "same-origin"|TOKEN_URL=https://x.io/oauth/token|PASSWORD_MIN_LENGTH=12|JWT_ALGORITHM=HS256
TOKEN_EXPIRY=15m|API_KEY_HEADER=X-Api-Key|Buffer.from(password, 'base64')|USE_CREDENTIALS = 'use-credentials'
token = r"[-!#$%&*+.^_`0-9a-zA-Z]+"|keyword=abc123|/home/miranda|/home/mira.old/x|/home/mira-2/x|/home/runner/x
Miranda, Admiral, Mirage|mira|will this work|user@example.com|git@github.com:a/b.git|noreply@x.com|pkg@1.2.3
icon@2x.png|@acme/ui|user@host|getty@tty1.service|10.0.0.1|127.0.0.1|100.64.0.1|203.0.113.9|8.8.8.8|2001:db8::1
fe80::1|12:34:56|version 1.2.3.4|Chrome/126.0.6478.127|// 5.2.1.2|see 4.2.6.10 of the text|1.3.6.1.4.1.311.21.8
1777629600123|4111111111111112|0.4111111111111111|978-3-16-148410-0|2026-05-01T10:00:01.000Z|id 12345678901
555 123 4567 890|sk-learn|ghp_****|AKIAIOSFODNN7EXAMPLE|sk-ant-api03-xxxxxxxxxxxxxxxxxxxx
""".replace("\n", "|").strip("|")


@pytest.mark.parametrize(("before", "after"), GOES)
def test_it_goes(before: str, after: str) -> None:
    assert redact_text(before, MIRA) == after


@pytest.mark.parametrize("text", STAYS.split("|"))
def test_it_stays(text: str) -> None:
    assert redact_text(text, MIRA) == text


def test_what_overlaps_is_one() -> None:
    assert redact_text("https://mira:hunter22@corp.io/x", MIRA) == "https://[password]@corp.io/x"
    assert redact_text("Mira Okafor <mira.okafor@corp.io>", MIRA) == "[name] <[email]>"


def test_a_private_key_goes_whole() -> None:
    lines = ["-----BEGIN " + "PRIVATE KEY-----", "MIIEvQ" + "Ab3+" * 14, "q7Zk" * 16, "-----END " + "PRIVATE KEY-----"]
    for joint in ("\n", "\r\n", "\\n", "\n+", "\n    "):
        assert redact_text("x\n" + joint.join(lines) + "\ny", MIRA) == "x\n[key]\ny"
    assert redact_text("\n".join(lines[:2]) + "\n\nDone.", MIRA).endswith("Done.")
    assert "MIIEvQ" not in redact_text("\n".join(lines[:2]), MIRA)
    public = "\n".join(lines).replace("PRIVATE", "PUBLIC")
    assert redact_text(public, MIRA) == public
