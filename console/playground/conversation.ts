import { type Image, imagesIn } from '../parts/turn-input.ts'
import { jsonText } from '../parts/turned-text.ts'
import { errorText, toolFailure } from '../tool-failure.ts'
import { createStore } from '../vendor/store.js'

/** frame of a stream or a socket, with its names as sent by the server */
export type Frame = Readonly<{ event: string; data: Readonly<Record<string, unknown>>; id: number }>

export interface Line {
  readonly kind: 'input' | 'answer' | 'tool' | 'end' | 'error'
  readonly text: string
  readonly images?: readonly Image[]
}

type Waiting = Readonly<{ action: string; tool: string }>

interface Conversation {
  readonly lines: readonly Line[]
  readonly busy: boolean
  /** for a person */
  readonly waiting: Waiting | null
  /** sequence of the newest frame */
  readonly last: number
}

const empty: Conversation = { lines: [], busy: false, waiting: null, last: 0 }

/** The state of one session, computed from its frames: the same frames give the same conversation, over any transport. */
export const openConversation = () =>
  createStore({
    context: empty,
    on: {
      /** A turn was sent and its first frame has not arrived. */
      sent: (context: Conversation) => ({ ...context, busy: true }),
      refused: (context: Conversation, { trouble }: { trouble: string }) => ({
        ...context,
        busy: false,
        lines: [...context.lines, line('error', trouble)],
      }),
      came: (context: Conversation, { frame }: { frame: Frame }) =>
        frame.id !== 0 && frame.id <= context.last ? context : after(context, frame),
    },
  })

/** What was said in a log of a session or a run. */
export const linesIn = (events: readonly ActorEvent[]) =>
  events.reduce(
    (context, { event_type, payload, sequence }) =>
      after(context, { event: event_type.replace(/^run\./, ''), data: payload, id: sequence }),
    empty,
  ).lines

const line = (kind: Line['kind'], text: string): Line => ({ kind, text })

const after = (context: Conversation, frame: Frame): Conversation => {
  const { lines } = context
  const next = { ...context, last: Math.max(context.last, frame.id), ...changeOf(frame) }
  const added = linesOf(frame)
  const newest = lines.at(-1)
  if (frame.event === 'turn.restarted') return { ...next, lines: withoutAnswer(lines) }
  if (frame.event.endsWith('output_text.delta') && newest?.kind === 'answer')
    return { ...next, lines: [...lines.slice(0, -1), line('answer', newest.text + String(frame.data.delta ?? ''))] }
  // the call itself was said when it began
  const said = newest !== undefined && added[0]?.text === `${newest.text}${waits}`
  return { ...next, lines: [...(said ? lines.slice(0, -1) : lines), ...added] }
}

const waits = ' is pending approval'

/** The answer of a turn is generated again. */
const withoutAnswer = (lines: readonly Line[]): readonly Line[] => {
  const lastInput = lines.findLastIndex(({ kind }) => kind === 'input')
  return lines.filter(({ kind }, index) => index < lastInput || kind !== 'answer')
}

const changeOf = ({ event, data }: Frame): Partial<Conversation> => {
  if (event === 'turn.started' || event === 'turn.resumed') return { busy: true, waiting: null }
  if (event === 'turn.paused')
    return { busy: false, waiting: { action: String(data.action_id), tool: String(data.tool) } }
  return endsTurn(event) ? { busy: false, waiting: null } : {}
}

/** Whether a turn has ended or paused with this event. */
export const endsTurn = (event: string) => /^(turn\.(completed|failed|paused)|error)$/.test(event)

const linesOf = ({ event, data }: Frame): readonly Line[] => {
  if (event === 'turn.started') return inputOf(data)
  if (event.endsWith('output_text.delta')) return [line('answer', String(data.delta ?? ''))]
  if (event === 'tool_call.started') return [line('tool', `${data.tool}(${jsonText(data.arguments ?? {})})`)]
  if (event === 'tool_call.completed') return [answerOf(data)]
  if (event === 'queued') return [line('input', textIn(data.input))]
  if (event === 'model_call.completed') return data.text ? [line('answer', String(data.text))] : []
  if (event === 'turn.paused' || event === 'requires_action')
    return [line('tool', `${data.tool}(${jsonText(data.arguments ?? {})})${waits}`)]
  if (event === 'turn.resumed') return [line('tool', `It was ${data.resolution}.`)]
  if (event === 'action.approved' || event === 'action.rejected') return [line('tool', `It was ${event.slice(7)}.`)]
  if (event === 'delegated') return [line('tool', `It delegated to ${data.child_run_id}: ${textIn(data.input)}`)]
  if (event === 'turn.completed' || event === 'completed') return [line('end', usageOf(data.usage))]
  if (event === 'turn.failed' || event === 'failed' || event === 'error') return [line('error', errorText(data.error))]
  return []
}

const inputOf = ({ input_text = '', input }: Frame['data']): readonly Line[] => {
  const images = imagesIn(input)
  return input_text || images.length > 0 ? [{ ...line('input', String(input_text)), images }] : []
}

const answerOf = ({ tool, output }: Frame['data']): Line => {
  const failure = toolFailure(output)
  if (failure !== null) return line('error', `${tool} failed: ${failure.code}: ${failure.message}`)
  return line('tool', `${tool} answered: ${textOf(output)}`)
}

/** The text of a run's input. */
const textIn = (input: unknown) => {
  const { prompt } = Object(input)
  return typeof prompt === 'string' ? prompt : jsonText(input)
}

const textOf = (output: unknown) => (typeof output === 'string' ? output : JSON.stringify(output))

const usageOf = (usage: unknown) => {
  if (usage === undefined) return 'completed'
  const { input_tokens, output_tokens, cost_usd = null } = Object(usage)
  return `completed: ${input_tokens} + ${output_tokens} tokens${cost_usd === null ? '' : `, $${cost_usd}`}`
}
