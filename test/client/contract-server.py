"""A server of collections, /COUNT/events and /COUNT/pretty/events, written from the contract alone with Python's standard library.

It prints the port on which it listens, and ends when its standard input does.
"""

import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE_SIZE = 500


def item(number):
    return {"id": number, "title": f"Ereignis {number}: Käse & Brot", "price": number / 8, "tags": ["a", None, True]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        path = re.fullmatch(r"/(\d+)(/pretty)?/events", url.path)
        if not path:
            return self.answer(404, {"error": f"nothing at {url.path}"})
        value = parse_qs(url.query).get("page", ["1"])[-1]
        if not value.isdecimal() or int(value) == 0:
            return self.answer(400, {"error": f"page is {value}"})
        items = [item(number) for number in range(1, int(path[1]) + 1)]
        self.answer(200, self.envelope(url.path, items, int(value)), 2 if path[2] else None)

    def envelope(self, path, items, requested):
        collection = f"http://{self.headers['Host']}{path}"
        last = max(1, -(-len(items) // PAGE_SIZE))
        page = min(requested, last)
        links = {"first": {"href": collection}, "last": {"href": f"{collection}?page={last}"}}
        if page > 1:
            links["prev"] = {"href": f"{collection}?page={page - 1}"}
        if page < last:
            links["next"] = {"href": f"{collection}?page={page + 1}"}
        start = (page - 1) * PAGE_SIZE
        return {
            "_embedded": {"events": items[start : start + PAGE_SIZE]},
            "_links": links,
            "item_count": len(items),
        }

    def answer(self, status, document, indent=None):
        body = json.dumps(document, indent=indent).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def end_with_input():
    sys.stdin.read()
    os._exit(0)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
threading.Thread(target=end_with_input, daemon=True).start()
server.serve_forever()
