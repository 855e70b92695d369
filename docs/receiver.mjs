/*
 * A tool and a webhook endpoint for the walkthrough of the platform: it prints each request and answers with a receipt.
 * `node docs/receiver.mjs` listens on 127.0.0.1:9000; PORT names another port.
 */
import { createServer } from 'node:http'

let receipts = 0
let last = {}

const server = createServer(async (request, response) => {
  // what the newest request was, for a look at its signature
  if (request.url === '/tool/last') return response.end(JSON.stringify(last))
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  if (request.url === '/tool') last = { headers: request.headers, body }
  console.log(request.method, request.url, body)
  receipts += 1
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ receipt: receipts }))
})

server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log('listening on', server.address()))
