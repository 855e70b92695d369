import { callApi, wordsOf } from '../api.js'
import { useEffect, useMemo, useRef, useState } from '../html.js'
import { hashAt } from '../route.js'
import { openConversation } from './conversation.js'
import { bySse, byWebSocket } from './turn-sender.js'

/**
 * @typedef {string | readonly Readonly<Record<string, unknown>>[]} Input
 * @typedef {{ input: Input, tools: readonly object[] }} Message
 * @typedef {ReturnType<typeof turnOf>} Turn
 */

/** A first message that waits until its session is in the URL, since the page is then rendered again. @type {{ session: string, turn: Turn } | null} */
let pending = null

/** The conversation of the session in the URL, or a new one that starts with the first message. @param {Place} place @param {readonly ActorEvent[]} log earlier events @param {(input: Input) => void} giveBack called with a message that was refused */
export const useTalk = (place, log, giveBack) => {
  const { project, query } = place
  const { session = '', by = '' } = query
  const store = useMemo(openConversation, [])
  const [talk, setTalk] = useState(store.getSnapshot().context)
  // until its turn begins
  const sent = useRef(/** @type {Turn | null} */ (null))
  const giveSentBack = () => {
    if (sent.current !== null) giveBack(sent.current.input)
    sent.current = null
  }
  const refuse = (/** @type {string} */ trouble) => {
    store.trigger.refused({ trouble })
    giveSentBack()
  }
  const fail = (/** @type {unknown} */ error) => refuse(wordsOf(error))
  const sender = useMemo(() => {
    if (session === '') return null
    return (by === 'ws' ? byWebSocket : bySse)({
      ...{ project, session, last: () => store.getSnapshot().context.last },
      take: (frame) => {
        store.trigger.came({ frame })
        if (frame.event === 'error') giveSentBack()
        sent.current = null
      },
      trouble: refuse,
    })
  }, [])
  /** @param {Turn} turn */
  const submit = (turn) => {
    sent.current = turn
    if (sender === null) return begin(place, turn).catch(fail)
    store.trigger.sent()
    sender.send(turn)
  }
  useEffect(() => {
    const { unsubscribe } = store.subscribe(({ context }) => setTalk(context))
    for (const { event_type: event, payload: data, sequence: id } of log)
      store.trigger.came({ frame: { event, data, id } })
    if (pending !== null && pending.session === session) void submit(pending.turn)
    else if (store.getSnapshot().context.busy) sender?.follow()
    pending = null
    return () => {
      unsubscribe()
      sender?.stop()
    }
  }, [])
  /** @param {Message} message */
  const send = async (message) => submit(turnOf(place, message))
  const stop = () => callApi(project, 'sessions.cancel', { params: { session_id: session } }).catch(fail)
  return { ...talk, send, stop, follow: () => sender?.follow() }
}

/** @param {Place} place @param {Message} message */
const turnOf = ({ query: { model = '' } }, { input, tools }) => ({
  input,
  ...(model === '' ? {} : { model }),
  ...(tools.length === 0 ? {} : { tools }),
})

/** Creates the session for a first message. @param {Place} place @param {Turn} turn */
const begin = async (place, turn) => {
  const { agent = '' } = place.query
  const { id } = await callApi(place.project, 'sessions.create', { body: agent === '' ? {} : { agent_id: agent } })
  pending = { session: id, turn }
  location.hash = hashAt(place, { session: id })
}
