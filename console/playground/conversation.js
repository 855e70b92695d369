import { imagesIn } from '../parts/turn-input.js'
import { jsonText } from '../parts/turned-text.js'
import { toolFailure } from '../tool-failure.js'
import { createStore } from '../vendor/store.js'

/**
 * @typedef {{ event: string, data: Readonly<Record<string, any>>, id: number }} Frame frame of a stream or a socket, with its names as sent by the server
 * @typedef {{ kind: 'input' | 'answer' | 'tool' | 'end' | 'error', text: string, images?: readonly import('../parts/turn-input.js').Image[] }} Line
 * @typedef {{ action: string, tool: string }} Waiting
 * @typedef {object} Conversation
 * @property {readonly Line[]} lines
 * @property {boolean} busy
 * @property {Waiting | null} waiting for a person
 * @property {number} last sequence of the newest frame
 */

/** @type {Conversation} */
const empty = { lines: [], busy: false, waiting: null, last: 0 }

/** The state of one session, computed from its frames: the same frames give the same conversation, over any transport. */
export const openConversation = () =>
  createStore({
    context: empty,
    on: {
      /** A turn was sent and its first frame has not arrived. @param {Conversation} context */
      sent: (context) => ({ ...context, busy: true }),
      /** @param {Conversation} context @param {{ trouble: string }} event */
      refused: (context, { trouble }) => ({
        ...context,
        busy: false,
        lines: [...context.lines, line('error', trouble)],
      }),
      /** @param {Conversation} context @param {{ frame: Frame }} event */
      came: (context, { frame }) => (frame.id !== 0 && frame.id <= context.last ? context : after(context, frame)),
    },
  })

/** What was said in a log of a session or a run. @param {readonly ActorEvent[]} events */
export const linesIn = (events) =>
  events.reduce(
    (context, { event_type, payload, sequence }) =>
      after(context, { event: event_type.replace(/^run\./, ''), data: payload, id: sequence }),
    empty,
  ).lines

/** @param {Line['kind']} kind @param {string} text @returns {Line} */
const line = (kind, text) => ({ kind, text })

/** @param {Conversation} context @param {Frame} frame @returns {Conversation} */
const after = (context, frame) => {
  const { lines } = context
  const next = { ...context, last: Math.max(context.last, frame.id), ...changeOf(frame) }
  const added = linesOf(frame)
  const newest = lines.at(-1)
  if (frame.event === 'turn.restarted') return { ...next, lines: withoutAnswer(lines) }
  if (frame.event.endsWith('output_text.delta') && newest?.kind === 'answer')
    return { ...next, lines: [...lines.slice(0, -1), line('answer', newest.text + String(frame.data.delta ?? ''))] }
  return { ...next, lines: [...lines, ...added] }
}

/** The answer of a turn is generated again. @param {readonly Line[]} lines @returns {readonly Line[]} */
const withoutAnswer = (lines) => {
  const lastInput = lines.findLastIndex(({ kind }) => kind === 'input')
  return lines.filter(({ kind }, index) => index < lastInput || kind !== 'answer')
}

/** @param {Frame} frame @returns {Partial<Conversation>} */
const changeOf = ({ event, data }) => {
  if (event === 'turn.started' || event === 'turn.resumed') return { busy: true, waiting: null }
  if (event === 'turn.paused')
    return { busy: false, waiting: { action: String(data.action_id), tool: String(data.tool) } }
  return endsTurn(event) ? { busy: false, waiting: null } : {}
}

/** Whether a turn has ended or paused with this event. @param {string} event */
export const endsTurn = (event) => /^(turn\.(completed|failed|paused)|error)$/.test(event)

/** @param {Frame} frame @returns {readonly Line[]} */
const linesOf = ({ event, data }) => {
  if (event === 'turn.started') return inputOf(data)
  if (event.endsWith('output_text.delta')) return [line('answer', String(data.delta ?? ''))]
  if (event === 'tool_call.started') return [line('tool', `${data.tool}(${jsonText(data.arguments ?? {})})`)]
  if (event === 'tool_call.completed') return [answerOf(data)]
  if (event === 'queued') return [line('input', textIn(data.input))]
  if (event === 'model_call.completed') return data.text ? [line('answer', String(data.text))] : []
  if (event === 'turn.paused' || event === 'requires_action')
    return [line('tool', `${data.tool}(${jsonText(data.arguments ?? {})}) is pending approval`)]
  if (event === 'turn.resumed') return [line('tool', `It was ${data.resolution}.`)]
  if (event === 'action.approved' || event === 'action.rejected') return [line('tool', `It was ${event.slice(7)}.`)]
  if (event === 'delegated') return [line('tool', `It delegated to ${data.child_run_id}: ${textIn(data.input)}`)]
  if (event === 'turn.completed' || event === 'completed') return [line('end', usageOf(data.usage))]
  if (event === 'turn.failed' || event === 'failed' || event === 'error')
    return [line('error', `${data.error?.code ?? 'failed'}: ${data.error?.message ?? ''}`)]
  return []
}

/** @param {Frame['data']} data @returns {readonly Line[]} */
const inputOf = ({ input_text = '', input }) => {
  const images = imagesIn(input)
  return input_text || images.length > 0 ? [{ ...line('input', String(input_text)), images }] : []
}

/** @param {Frame['data']} data @returns {Line} */
const answerOf = ({ tool, output }) => {
  const failure = toolFailure(output)
  if (failure !== null) return line('error', `${tool} failed: ${failure.code}: ${failure.message}`)
  return line('tool', `${tool} answered: ${textOf(output)}`)
}

/** The text of a run's input. @param {any} input */
const textIn = (input) => (typeof input?.prompt === 'string' ? input.prompt : jsonText(input))

/** @param {unknown} output */
const textOf = (output) => (typeof output === 'string' ? output : JSON.stringify(output))

/** @param {Readonly<Record<string, any>> | undefined} usage */
const usageOf = (usage) => {
  if (usage === undefined) return 'completed'
  const cost = usage.cost_usd === null || usage.cost_usd === undefined ? '' : `, $${usage.cost_usd}`
  return `completed: ${usage.input_tokens} + ${usage.output_tokens} tokens${cost}`
}
