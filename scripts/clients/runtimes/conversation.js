import { pageFunctions, Troupe, webSocket } from '@troupe/client'
import { api } from '@troupe/client/api'

/** Talks to a server over each transport that the runtime has: a function, typed events, and a page of a list. */
export const converse = async ({ baseUrl, key, transports }) => {
  for (const transport of transports) {
    const troupe = new Troupe({ baseUrl, key, transport })
    const functions = pageFunctions({ get_city: { run: () => 'Porto' } })
    const session = troupe.sessions.open(null, { functions })
    const { text } = await session.send('Please use get_city')
    if (!text.includes('Porto')) throw new Error(`the function's output is not in the answer: ${text}`)
    const names = []
    for await (const { event } of session.events({ after: 0 })) {
      names.push(event)
      if (event === 'turn.completed') break
    }
    if (names[0] !== 'turn.started') throw new Error(`the log begins with ${names}`)
    const { data } = await api(troupe).sessions.list({ limit: 1 })
    if (data[0].id !== session.id) throw new Error('the session is not the newest')
  }
  return 'ok'
}

/** Server-sent events, and WebSockets where there are any. */
export const everyTransport = typeof WebSocket === 'undefined' ? [undefined] : [undefined, webSocket]
