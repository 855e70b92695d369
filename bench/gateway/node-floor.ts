import http from 'node:http'

/*
 * Bare proxy on node:http, with the one JSON.parse of the body that a gateway needs: no auth, limits, metering or log.
 * `node bench/gateway/node-floor.ts PORT UPSTREAM_PORT`
 */

const [port, upstreamPort] = process.argv.slice(2).map(Number)
const agent = new http.Agent({ keepAlive: true, maxSockets: 512, noDelay: true })

const relay = (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer): void => {
  if (typeof JSON.parse(body.toString('utf8')).model !== 'string') {
    response.writeHead(400).end()
    return
  }
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    authorization: request.headers.authorization ?? '',
  }
  const options = { host: '127.0.0.1', port: upstreamPort, path: request.url, method: 'POST', agent, headers }
  const upstream = http.request(options, (answer) => {
    const { 'content-type': type = '', 'content-length': length } = answer.headers
    response.writeHead(answer.statusCode ?? 502, {
      'content-type': type,
      ...(length === undefined ? {} : { 'content-length': length }),
    })
    answer.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  response.on('close', () => {
    if (!response.writableFinished) upstream.destroy()
  })
  upstream.end(body)
}

http
  .createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => relay(request, response, Buffer.concat(parts)))
  })
  .listen(port, '127.0.0.1')
