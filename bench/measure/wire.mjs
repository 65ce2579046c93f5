/** HTTP/1.1 by hand over a socket, for a server that costs as little as can be: bodies have a stated length, as all clients of the bench send them. */

const END = Buffer.from('\r\n\r\n');
const REASON = { 200: 'OK', 201: 'Created', 404: 'Not Found', 405: 'Method Not Allowed' };

/** Calls `handle(method, target, body, send)` for every request of a connection; `send(status, json)` answers in order. */
export function answers(socket, handle) {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const headEnd = rest.indexOf(END);
      if (headEnd < 0) return;
      const head = rest.latin1Slice(0, headEnd);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (/\r\ntransfer-encoding:/i.test(head)) {
        socket.destroy(new Error('the server of the bench reads bodies of a stated length only'));
        return;
      }
      const end = headEnd + 4 + length;
      if (rest.length < end) return;
      const body = length === 0 ? '' : rest.utf8Slice(headEnd + 4, end);
      rest = rest.subarray(end);
      const space = head.indexOf(' ');
      const second = head.indexOf(' ', space + 1);
      const close = /\r\nconnection: *close/i.test(head);
      handle(head.slice(0, space), head.slice(space + 1, second), body, (status, json) => {
        if (socket.destroyed) return;
        socket.write(
          `HTTP/1.1 ${status} ${REASON[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n${close ? 'connection: close\r\n' : ''}\r\n${json}`,
        );
        if (close) socket.end();
      });
    }
  });
}
