"""Who may see the dashboard: tokens, and pages of other sites."""

import functools
import http.server
import threading

import pytest
from conftest import Page

TOKEN = "0123456789abcdef-token"

# A page of another site that tries all that a page can.
OTHER = """<!doctype html><title>other</title>
<iframe name="frame" id="frame"></iframe>
<script>
const target = "TARGET";
const tried = {};
const frame = () => document.getElementById("frame");
const inFrame = (selector) => {
  try { return frame().contentDocument.querySelector(selector)?.innerText ? "read" : "refused"; }
  catch { return "refused"; }
};
const within = (promise) => Promise.race([promise, new Promise((done) =>
  setTimeout(done, 30000, "nothing"))]);
const listen = (url) => new Promise((done) => {
  const events = new EventSource(url);
  events.onmessage = () => done("read");
  events.onerror = () => events.readyState === 2 ? done("refused") : null;
});
const picture = (url) => new Promise((done) => {
  const image = new Image();
  image.onload = () => done("shown");
  image.onerror = () => done("refused");
  image.src = url;
});
const script = (url) => new Promise((done) => {
  const node = document.createElement("script");
  node.onload = () => done("ran");
  node.onerror = () => done("refused");
  node.src = url;
  document.head.append(node);
});
async function attempt() {
  const read = (answer) => answer.text().then((text) => text.length ? "read" : "refused");
  tried.fetch = await fetch(target + "api/v1/live.json").then(read, () => "refused");
  tried.opaque = await fetch(target + "api/v1/live.json", { mode: "no-cors" })
    .then(read, () => "refused");
  tried.history = await fetch(target + "api/v1/history").then(read, () => "refused");
  tried.events = await within(listen(target + "api/v1/live"));
  tried.image = await picture(target + "icon.svg");
  tried.script = await script(target + "app.js");
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: target + "api/v1/live.json", target: "frame" });
  document.body.append(form);
  const loaded = new Promise((done) => { frame().onload = done; });
  form.submit();
  await within(loaded);
  tried.form = inFrame("body");
  const again = new Promise((done) => { frame().onload = done; });
  frame().src = target;
  await within(again);
  tried.frame = inFrame("#sentence");
  window.finished = tried;
}
attempt();
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one page."""

    def __init__(self, page, *args):
        self.page = page
        super().__init__(*args)

    def do_GET(self):
        body = self.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def other_site():
    """other_site(page): its address, on a port of its own."""
    servers = []

    def serve(page):
        handler = functools.partial(Handler, page)
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return "http://%s:%d/" % ("127.0.0.1", servers[-1].server_address[1])

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    return path


def test_a_token_is_asked_for(start, browse, token_file):
    agent = start("--token-file", token_file)
    page = browse(agent.url)
    assert page.status == 401
    assert "/login?token=" in page.text("body")
    assert page("goto", url=agent.url + "login?token=wrong") == 401
    assert page("goto", url=agent.url + "api/v1/live.json") == 401
    page = browse(agent.url + "login?token=" + TOKEN)
    assert page.status == 200
    assert page.get("location.href") == agent.url, "the token is not left in the address"
    page.live()
    held = page.text("#time")
    page.wait("document.querySelector('#time').innerText !== %r" % held)
    assert page.get("document.cookie") == "", "scripts do not see it"
    assert page("said") == []
    assert browse(agent.url).status == 401, "the cookie is of that browser"


def test_the_page_says_when_its_token_is_no_good_any_more(start, browse, token_file, tmp_path):
    agent = start("--token-file", token_file)
    page = browse(agent.url + "login?token=" + TOKEN).live()
    agent.stop()
    other = tmp_path / "other"
    other.write_text("another-token-0123456789\n")
    start("--token-file", other, port=agent.port)
    page.wait("document.querySelector('#connection').innerText.includes('a token is needed')")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("with_token", [False, True])
def test_other_sites_read_nothing(start, browse, other_site, token_file, name, with_token):
    """Not even when this browser has the token's cookie, which ports share."""
    agent = start(*(["--token-file", token_file] if with_token else []))
    page = browse(agent.url + ("login?token=" + TOKEN if with_token else "")).live()
    page("goto", url="about:blank")  # what the dashboard itself still asked for ends here
    page("answers")
    site = other_site(OTHER.replace("TARGET", agent.url)).replace("127.0.0.1", name)
    page("goto", url=site)
    page.wait("window.finished", 80)
    tried = page.get("window.finished")
    assert set(tried.values()) == {"refused"}, tried
    answers = [a for a in page("answers") if a[1].startswith(agent.url)]
    # a frame is a navigation, as a link is; its content is not shown: X-Frame-Options
    got = [a for a in answers if a[2] < 400 and a[1] != agent.url]
    assert answers and got == []
    assert [status for method, _, status in answers if method == "POST"] == [405]


def test_a_page_knows_nothing_of_the_one_before(start, driver, token_file):
    """Pages of tests share a process, and no more."""
    agent = start("--token-file", token_file)
    login = agent.url + "login?token=" + TOKEN
    first = Page(driver, login, viewport={"width": 390, "height": 800}, colorScheme="dark")
    first.live()
    first("click", selector="#theme")
    assert first.get("localStorage.getItem('theme')") == "light"
    first("close")
    second = Page(driver, agent.url)
    assert second.status == 401
    assert second("goto", url=login) == 200
    assert second.get("localStorage.length") == 0
    assert second.get("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [
        1400, False
    ]
    second("close")
