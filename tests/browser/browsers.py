"""Small drivers for the two browsers that pages are opened in: Chromium over its debugging pipe, Firefox by Marionette.

Nothing but the standard library, and nothing is put into the pages: what a test reads, it reads from outside.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip

FIREFOX = ("firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote")

CONTEXT = "Runtime.executionContextCreated"

KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, "Home": 36, "End": 35, "Enter": 13,
    " ": 32, "Escape": 27,
}  # fmt: skip

MARIONETTE_KEYS = {
    "ArrowDown": "\ue015", "ArrowUp": "\ue013", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Tab": "\ue004",
    "Home": "\ue011", "End": "\ue010", "Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008",
}  # fmt: skip

CENTRE = """(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();
  return [b.x + b.width / 2, b.y + b.height / 2]; })(document.querySelector(%s))"""


def is_installed(browser: str) -> bool:
    """Whether `chromium` or `firefox-esr` can be started here."""
    return shutil.which(browser) is not None


class Chromium:
    """One Chromium with one page, spoken to over its debugging pipe."""

    name = "chromium"

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self.folder = tempfile.mkdtemp(prefix="trailbook-chromium-")
        from_us, self._to_browser = os.pipe()
        self._from_browser, to_us = os.pipe()
        # The browser reads its commands from descriptor 3 and answers on 4.
        command = ["chromium", *CHROMIUM_FLAGS, f"--user-data-dir={self.folder}", f"--window-size={width},{height}"]
        script = f'exec 3<&{from_us} 4>&{to_us}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command, "about:blank"],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        page = next(t for t in self._command("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self._command("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Performance", "Audits"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.size(width, height)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to the page."""
        return self._command(method, self._session, **parameters)

    def open(self, address: str, settle: float = 0.2) -> None:
        """Open a page and wait until it is loaded."""
        for each in ("about:blank", address):
            self.events.clear()
            self.call("Page.navigate", url=each)
            end = time.monotonic() + 60
            while not any(event["method"] == "Page.loadEventFired" for event in self.events):
                assert time.monotonic() < end, f"{each} did not load"
                self.pause(0.01)
        self.pause(settle)

    def read(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def read_in_frames(self, expression: str) -> list[Any]:
        """The value of an expression in each frame of the page, the page itself first."""
        created = [event["params"]["context"] for event in self.events if event["method"] == CONTEXT]
        values = []
        for number in [context["id"] for context in created if context["auxData"]["isDefault"]]:
            answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, contextId=number)
            assert "exceptionDetails" not in answer, answer
            values.append(answer["result"].get("value"))
        return values

    def key(self, key: str, shift: bool = False) -> None:
        """Press and release a key."""
        code = KEYS.get(key) or ord(key.upper())
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
        event |= {"nativeVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(key)
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **down, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, selector: str) -> None:
        """Scroll an element into view and click its centre."""
        x, y = self.read(CENTRE % json.dumps(selector))
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Click a point of the viewport."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def size(self, width: int, height: int) -> None:
        """Give the viewport another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind: str = "", **features: str) -> None:
        """Show the page as `print` or as a person with other preferences (`prefers_color_scheme="dark"`) sees it."""
        told = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=kind, features=told)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as PNG."""
        parameters: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"]))

    def messages(self) -> list[str]:
        """All that the browser had to say about the page."""
        self.pause(0.05)
        said = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Log.entryAdded":
                said.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                said.append(str(parameters["args"]))
            elif event["method"] == "Audits.issueAdded":
                said.append(json.dumps(parameters["issue"])[:400])
        return said

    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        self.pause(0.05)
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent]

    def pause(self, seconds: float) -> None:
        """Let the browser work, and take in what it says."""
        end = time.monotonic() + seconds
        os.set_blocking(self._from_browser, False)
        try:
            while time.monotonic() < end:
                try:
                    self._take(os.read(self._from_browser, 1 << 20))
                except BlockingIOError:
                    time.sleep(0.005)
        finally:
            os.set_blocking(self._from_browser, True)

    def close(self) -> None:
        """End the browser and forget its profile."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to_browser)
        os.close(self._from_browser)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to_browser, data) :]
        while True:
            for message in self._take(os.read(self._from_browser, 1 << 20)):
                if message["id"] == self._number:
                    assert "error" not in message, (method, message)
                    return message["result"]

    def _take(self, data: bytes) -> list[dict[str, Any]]:
        assert data, "Chromium has gone"
        *whole, self._buffer = (self._buffer + data).split(b"\0")
        messages = [json.loads(message) for message in whole]
        self.events += [message for message in messages if "method" in message]
        return [message for message in messages if "id" in message]


class Firefox:
    """One Firefox with one page, spoken to by Marionette."""

    name = "firefox-esr"

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self.folder = tempfile.mkdtemp(prefix="trailbook-firefox-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        preferences = {
            "marionette.port": port, "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
            "toolkit.telemetry.enabled": False, "browser.shell.checkDefaultBrowser": False,
            "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
            "browser.safebrowsing.malware.enabled": False, "browser.safebrowsing.phishing.enabled": False,
            "extensions.update.enabled": False, "services.settings.server": "data:,",
            "browser.aboutwelcome.enabled": False, "datareporting.healthreport.uploadEnabled": False,
        }  # fmt: skip
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        Path(self.folder, "user.js").write_text("".join(lines))
        self._process = subprocess.Popen(
            [*FIREFOX, "--profile", self.folder, f"--width={width}", f"--height={height}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "HOME": self.folder, "MOZ_CRASHREPORTER_DISABLE": "1"},
        )
        self._socket = self._connect(port)
        self._buffer = b""
        self._number = 0
        self._receive()
        self._command("WebDriver:NewSession", capabilities={})
        self.size(width, height)

    def open(self, address: str, settle: float = 0.3) -> None:
        """Open a page and wait until it is loaded."""
        self._in_browser("Services.console.reset(); return 1")
        self._command("WebDriver:Navigate", url="about:blank")
        self._command("WebDriver:Navigate", url=address)
        time.sleep(settle)

    def read(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self._command("WebDriver:ExecuteScript", script=f"return {expression}", args=[], newSandbox=True)

    def key(self, key: str, shift: bool = False) -> None:
        """Press and release a key."""
        value = MARIONETTE_KEYS.get(key, key)
        actions = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        if shift:
            held = MARIONETTE_KEYS["Shift"]
            actions = [{"type": "keyDown", "value": held}, *actions, {"type": "keyUp", "value": held}]
        self._command("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def click(self, selector: str) -> None:
        """Scroll an element into view and click its centre."""
        x, y = self.read(CENTRE % json.dumps(selector))
        self.click_at(x, y)

    def click_at(self, x: float, y: float) -> None:
        """Click a point of the viewport."""
        actions = [
            {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self._command("WebDriver:PerformActions", actions=[pointer])

    def size(self, width: int, height: int) -> None:
        """Give the window another size."""
        self._command("WebDriver:SetWindowRect", width=width, height=height)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as PNG."""
        data = self._command("WebDriver:TakeScreenshot", full=whole, hash=False)
        path.write_bytes(base64.b64decode(data))

    def messages(self) -> list[str]:
        """All that the browser had to say about the page."""
        said = self._in_browser(
            "return Services.console.getMessageArray().map(m => { try { m.QueryInterface(Ci.nsIScriptError);"
            " return [m.sourceName || '', m.errorMessage]; } catch (e) { return ['', m.message]; } })"
        )
        return [words for source, words in said if source.startswith("file:")]

    def pause(self, seconds: float) -> None:
        """Let the browser work."""
        time.sleep(seconds)

    def close(self) -> None:
        """End the browser and forget its profile."""
        self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connect(self, port: int) -> socket.socket:
        for _ in range(600):
            try:
                connected = socket.create_connection(("127.0.0.1", port))
            except OSError:
                time.sleep(0.1)
            else:
                connected.settimeout(120)
                return connected
        raise AssertionError("Firefox did not start")

    def _in_browser(self, script: str) -> Any:
        self._command("Marionette:SetContext", value="chrome")
        try:
            return self._command("WebDriver:ExecuteScript", script=script, args=[], newSandbox=False)
        finally:
            self._command("Marionette:SetContext", value="content")

    def _command(self, name: str, **parameters: Any) -> Any:
        self._number += 1
        data = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(str(len(data)).encode() + b":" + data)
        _kind, _number, error, answer = self._receive()
        assert not error, (name, error)
        return answer["value"] if isinstance(answer, dict) and set(answer) == {"value"} else answer

    def _receive(self) -> Any:
        while b":" not in self._buffer:
            self._buffer += self._socket.recv(65_536)
        length, rest = self._buffer.split(b":", 1)
        while len(rest) < int(length):
            rest += self._socket.recv(1 << 20)
        self._buffer = rest[int(length) :]
        return json.loads(rest[: int(length)])
