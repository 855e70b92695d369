import { connect } from 'node:net'

/**
 * Reads streams to their ends in a separate process, `reader.ts <port> <streams>`, and sends its parent the sum of
 * their last sequence numbers. If the sum equals the number of events sent, all have arrived.
 */
const [port, streams] = process.argv.slice(2).map(Number)
let open = streams ?? 0
let events = 0

for (let n = 0; n < open; n++) {
  const socket = connect({ host: '127.0.0.1', port: port ?? 0 })
  socket.write('GET / HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n')
  // Keeps only the last bytes, so that the reader never limits the server.
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
