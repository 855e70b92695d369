import { connect } from 'node:net'

/**
 * Reads streams to their ends in a process of its own, `reader.ts <port> <streams>`, and sends its parent the sum of
 * their last sequences: all that was sent has arrived when that is what was sent.
 */
const [port, streams] = process.argv.slice(2).map(Number)
let open = streams ?? 0
let events = 0

for (let n = 0; n < open; n++) {
  const socket = connect({ host: '127.0.0.1', port: port ?? 0 })
  socket.write('GET / HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n')
  // Only the last bytes are looked at: the reader must never be what limits the server.
  let [before, last] = [Buffer.alloc(0), Buffer.alloc(0)]
  socket.on('data', (part) => {
    before = last
    last = part
  })
  socket.once('close', () => {
    events += lastSequence(Buffer.concat([before.subarray(-2000), last]).toString())
    open--
    if (open === 0) process.send?.(events, () => process.exit())
  })
}

function lastSequence(text: string): number {
  return Number(text.slice(text.lastIndexOf('\nid: ') + 5).split('\n', 1)[0])
}
