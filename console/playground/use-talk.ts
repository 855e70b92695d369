import { callApi, wordsOf } from '../api.ts'
import { useEffect, useMemo, useRef, useState } from '../html.ts'
import { hashAt } from '../route.ts'
import { openConversation } from './conversation.ts'
import { bySse, byWebSocket } from './turn-sender.ts'

type Input = string | readonly Readonly<Record<string, unknown>>[]

type Message = Readonly<{ input: Input; tools: readonly object[] }>

type Turn = ReturnType<typeof turnOf>

/** A first message that waits until its session is in the URL, since the page is then rendered again. */
let pending: { session: string; turn: Turn } | null = null

/**
 * The conversation of the session in the URL, or a new one that starts with the first message.
 *
 * @param log earlier events
 * @param giveBack called with a message that was refused
 */
export const useTalk = (place: Place, log: readonly ActorEvent[], giveBack: (input: Input) => void) => {
  const { project, query } = place
  const { session = '', by = '' } = query
  const store = useMemo(openConversation, [])
  const [talk, setTalk] = useState(store.getSnapshot().context)
  // until its turn begins
  const sent = useRef<Turn | null>(null)
  const giveSentBack = () => {
    if (sent.current !== null) giveBack(sent.current.input)
    sent.current = null
  }
  const refuse = (trouble: string) => {
    store.trigger.refused({ trouble })
    giveSentBack()
  }
  const fail = (error: unknown) => refuse(wordsOf(error))
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
  const submit = (turn: Turn) => {
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
  const send = async (message: Message) => submit(turnOf(place, message))
  const stop = () => callApi(project, 'sessions.cancel', { params: { session_id: session } }).catch(fail)
  return { ...talk, send, stop, follow: () => sender?.follow() }
}

const turnOf = ({ query: { model = '' } }: Place, { input, tools }: Message) => ({
  input,
  ...(model === '' ? {} : { model }),
  ...(tools.length === 0 ? {} : { tools }),
})

/** Creates the session for a first message. */
const begin = async (place: Place, turn: Turn) => {
  const { agent = '' } = place.query
  const { id } = await callApi(place.project, 'sessions.create', { body: agent === '' ? {} : { agent_id: agent } })
  pending = { session: id, turn }
  location.hash = hashAt(place, { session: id })
}
