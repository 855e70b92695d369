import { converse } from './conversation.js'

// a worker can set no headers on a WebSocket, so a key is of use over server-sent events only
export default {
  fetch: async (request) => {
    const [baseUrl, key] = [request.headers.get('x-url'), request.headers.get('x-key')]
    try {
      return new Response(await converse({ baseUrl, key, transports: [undefined] }))
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500 })
    }
  },
}
