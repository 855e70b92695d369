import { callApi, wordsOf } from '../api.js'
import { hashAt } from '../route.js'
import { useEffect, useMemo, useState } from '../vendor/hooks.js'
import { openConversation } from './conversation.js'
import { bySse, byWebSocket } from './turn-sender.js'

/**
 * @typedef {import('../parts/query-form.js').Place} Place
 * @typedef {import('../event-log.js').ActorEvent} ActorEvent
 * @typedef {{ input: string | readonly object[], tools: readonly object[] }} Message
 */

/** A first message that waits until its session is in the URL, since the page is then rendered again. @type {{ session: string, turn: object } | null} */
let pending = null

/** The conversation of the session in the URL, or a new one that starts with the first message. @param {Place} place @param {readonly ActorEvent[]} log earlier events */
export const useTalk = (place, log) => {
  const { project, query } = place
  const { session = '', by = '' } = query
  const store = useMemo(openConversation, [])
  const [talk, setTalk] = useState(store.getSnapshot().context)
  const refuse = (/** @type {unknown} */ error) => store.trigger.refused({ trouble: wordsOf(error) })
  const sender = useMemo(() => {
    if (session === '') return null
    return (by === 'ws' ? byWebSocket : bySse)({
      ...{ project, session, last: () => store.getSnapshot().context.last },
      take: (frame) => store.trigger.came({ frame }),
      trouble: (trouble) => store.trigger.refused({ trouble }),
    })
  }, [])
  useEffect(() => {
    const { unsubscribe } = store.subscribe(({ context }) => setTalk(context))
    for (const { event_type: event, payload: data, sequence: id } of log)
      store.trigger.came({ frame: { event, data, id } })
    if (pending !== null && pending.session === session) {
      store.trigger.sent()
      sender?.send(pending.turn)
    } else if (store.getSnapshot().context.busy) sender?.follow()
    pending = null
    return () => {
      unsubscribe()
      sender?.stop()
    }
  }, [])
  /** @param {Message} message */
  const send = async (message) => {
    const turn = turnOf(place, message)
    if (sender === null) return begin(place, turn).catch(refuse)
    store.trigger.sent()
    sender.send(turn)
  }
  const stop = () => callApi(project, 'sessions.cancel', { params: { session_id: session } }).catch(refuse)
  return { ...talk, send, stop, follow: () => sender?.follow() }
}

/** @param {Place} place @param {Message} message */
const turnOf = ({ query: { model = '' } }, { input, tools }) => ({
  input,
  ...(model === '' ? {} : { model }),
  ...(tools.length === 0 ? {} : { tools }),
})

/** Creates the session for a first message. @param {Place} place @param {object} turn */
const begin = async (place, turn) => {
  const { agent = '' } = place.query
  const { id } = await callApi(place.project, 'sessions.create', { body: agent === '' ? {} : { agent_id: agent } })
  pending = { session: id, turn }
  location.hash = hashAt(place, { session: id })
}
