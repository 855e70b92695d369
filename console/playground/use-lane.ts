import { headOf, pathOf, wordsOf } from '../api.ts'
import { dollars, duration } from '../format.ts'
import { useState } from '../html.ts'
import { imagesIn } from '../parts/turn-input.ts'
import { errorText } from '../tool-failure.ts'
import type { Frame, Line } from './conversation.ts'
import { type Item, type Opened, requestOf, type Settings } from './request-model.ts'
import { streamFrames } from './server-events.ts'

/** `abort`: of the request in progress */
type LaneTalk = Readonly<{ items: readonly Item[]; lines: readonly Line[]; abort: AbortController | null }>

/** what a response has at its end */
interface Answered {
  readonly output: readonly Item[]
  readonly error?: unknown
  readonly usage?: Readonly<{ input_tokens: number; output_tokens: number; cost_usd?: string | null }> | null
}

const linesOf = (items: readonly Item[]): readonly Line[] => items.flatMap(lineOf)

const lineOf = ({ type, role, content, name, arguments: given, output }: Item): readonly Line[] => {
  if (type === 'function_call') return [{ kind: 'tool', text: `${name}(${given})` }]
  if (type === 'function_call_output') return [{ kind: 'tool', text: `answered: ${output}` }]
  if (role !== 'user' && role !== 'assistant') return []
  const parts = Array.isArray(content) ? content : [{ text: content }]
  const images = imagesIn(parts)
  const others = parts.filter((part) => !images.includes(part))
  const text = others.map((part) => part.text ?? part.filename ?? 'a file').join('\n')
  return [{ kind: role === 'user' ? 'input' : 'answer', text, images }]
}

/** Calls of functions that have no output yet. */
export const openCalls = (items: readonly Item[]) => {
  const answered = items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)
  return items.filter(({ type, call_id }) => type === 'function_call' && !answered.includes(call_id))
}

/** One of the requests that are compared: its settings, its conversation, and how it is sent. */
export const useLane = (project: string) => {
  const [settings, setSettings] = useState<Settings>({})
  const [switches, setSwitches] = useState({ user: '', base: '' })
  const [talk, setTalk] = useState<LaneTalk>({ items: [], lines: [], abort: null })
  const add = (...lines: readonly Line[]) => setTalk((before) => ({ ...before, lines: [...before.lines, ...lines] }))
  const open = (opened: Pick<Opened, 'settings' | 'items'>) => {
    setSettings(opened.settings)
    setTalk({ items: opened.items, lines: linesOf(opened.items), abort: null })
  }
  /** What a message adds to the conversation: the output of open calls, if there are any. */
  const inputOf = (text: string, files: readonly Item[]): readonly Item[] => {
    const calls = openCalls(talk.items)
    if (calls.length > 0) return calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: text }))
    const content = files.length === 0 ? text : [{ type: 'input_text', text }, ...files]
    return [{ role: 'user', content }]
  }
  const bodyOf = (text: string, files: readonly Item[]) =>
    requestOf(settings, switches, [...talk.items, ...inputOf(text, files)])
  const send = async (text: string, files: readonly Item[]) => {
    const [input, body, abort] = [inputOf(text, files), bodyOf(text, files), new AbortController()]
    const begun = performance.now()
    setTalk(({ items, lines }) => ({ items: [...items, ...input], lines: [...lines, ...linesOf(input)], abort }))
    const take = ({ event, data }: Frame) => {
      if (event === 'response.output_text.delta') setTalk((before) => grown(before, String(data.delta ?? '')))
      if (event === 'error') add({ kind: 'error', text: errorText(data) })
      if (!/^response\.(completed|failed|incomplete)$/.test(event)) return false
      const { output, usage, error }: Answered = Object(data.response)
      const calls = output.filter(({ type }) => type === 'function_call')
      // with its last line: a message that is sent as soon as that is shown is not dropped
      setTalk((before) => ({ ...before, items: [...before.items, ...output.map(sentAgain)], abort: null }))
      add(...linesOf(calls), endOf(usage, performance.now() - begun))
      if (error) add({ kind: 'error', text: errorText(error) })
      return true
    }
    const head = headOf(project, 'responses.create', { ...body, stream: true })
    await streamFrames({ path: pathOf(project, 'responses.create'), head, take, signal: abort.signal }).catch((error) =>
      add({ kind: 'error', text: abort.signal.aborted ? 'stopped' : wordsOf(error) }),
    )
    setTalk((before) => (before.abort === abort ? { ...before, abort: null } : before))
  }
  return { settings, setSettings, switches, setSwitches, ...talk, open, bodyOf, send }
}

/** An item of an answer, as the next request sends it. */
const sentAgain = ({ type, role, content, call_id, name, arguments: given, ...rest }: Item) => {
  if (type === 'function_call') return { type, call_id, name, arguments: given }
  return type === 'message'
    ? { role, content: (Array.isArray(content) ? content : []).map(({ text }) => text).join('') }
    : { type, role, content, ...rest }
}

/** More of the answer. */
const grown = (talk: LaneTalk, delta: string): LaneTalk => {
  const newest = talk.lines.at(-1)
  return newest?.kind === 'answer'
    ? { ...talk, lines: [...talk.lines.slice(0, -1), { kind: 'answer', text: newest.text + delta }] }
    : { ...talk, lines: [...talk.lines, { kind: 'answer', text: delta }] }
}

const endOf = (usage: Answered['usage'], ms: number): Line => {
  const tokens = usage ? `${usage.input_tokens} + ${usage.output_tokens} tokens, ` : ''
  const cost = usage?.cost_usd ? `${dollars(Number(usage.cost_usd))}, ` : ''
  return { kind: 'end', text: `${tokens}${cost}${duration(ms)}` }
}
