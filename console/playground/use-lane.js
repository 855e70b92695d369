import { headOf, pathOf, wordsOf } from '../api.js'
import { dollars, duration } from '../format.js'
import { useState } from '../html.js'
import { imagesIn } from '../parts/turn-input.js'
import { requestOf } from './request-model.js'
import { streamFrames } from './server-events.js'

/**
 * @typedef {import('./conversation.js').Line} Line
 * @typedef {import('./request-model.js').Item} Item
 * @typedef {import('./request-model.js').Opened} Opened
 * @typedef {{ items: readonly Item[], lines: readonly Line[], abort: AbortController | null }} LaneTalk `abort`: of the request in progress
 */

/** @param {readonly Item[]} items @returns {readonly Line[]} */
const linesOf = (items) => items.flatMap(lineOf)

/** @param {Item} item @returns {readonly Line[]} */
const lineOf = ({ type, role, content, name, arguments: given, output }) => {
  if (type === 'function_call') return [{ kind: 'tool', text: `${name}(${given})` }]
  if (type === 'function_call_output') return [{ kind: 'tool', text: `answered: ${output}` }]
  if (role !== 'user' && role !== 'assistant') return []
  const parts = Array.isArray(content) ? content : [{ text: content }]
  const images = imagesIn(parts)
  const others = parts.filter((part) => !images.includes(part))
  const text = others.map((part) => part.text ?? part.filename ?? 'a file').join('\n')
  return [{ kind: role === 'user' ? 'input' : 'answer', text, images }]
}

/** Calls of functions that have no output yet. @param {readonly Item[]} items */
export const openCalls = (items) => {
  const answered = items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id)
  return items.filter(({ type, call_id }) => type === 'function_call' && !answered.includes(call_id))
}

/** One of the requests that are compared: its settings, its conversation, and how it is sent. @param {string} project */
export const useLane = (project) => {
  const [settings, setSettings] = useState(/** @type {import('./request-model.js').Settings} */ ({}))
  const [switches, setSwitches] = useState({ user: '', base: '' })
  const [talk, setTalk] = useState(/** @type {LaneTalk} */ ({ items: [], lines: [], abort: null }))
  /** @param {readonly Line[]} lines */
  const add = (...lines) => setTalk((before) => ({ ...before, lines: [...before.lines, ...lines] }))
  /** @param {Pick<Opened, 'settings' | 'items'>} opened */
  const open = (opened) => {
    setSettings(opened.settings)
    setTalk({ items: opened.items, lines: linesOf(opened.items), abort: null })
  }
  /** What a message adds to the conversation: the output of open calls, if there are any. @param {string} text @param {readonly Item[]} files @returns {readonly Item[]} */
  const inputOf = (text, files) => {
    const calls = openCalls(talk.items)
    if (calls.length > 0) return calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: text }))
    const content = files.length === 0 ? text : [{ type: 'input_text', text }, ...files]
    return [{ role: 'user', content }]
  }
  /** @param {string} text @param {readonly Item[]} files */
  const bodyOf = (text, files) => requestOf(settings, switches, [...talk.items, ...inputOf(text, files)])
  /** @param {string} text @param {readonly Item[]} files */
  const send = async (text, files) => {
    const [input, body, abort] = [inputOf(text, files), bodyOf(text, files), new AbortController()]
    const begun = performance.now()
    setTalk(({ items, lines }) => ({ items: [...items, ...input], lines: [...lines, ...linesOf(input)], abort }))
    /** @param {import('./conversation.js').Frame} frame */
    const take = ({ event, data }) => {
      if (event === 'response.output_text.delta') setTalk((before) => grown(before, String(data.delta ?? '')))
      if (event === 'error') add({ kind: 'error', text: `${data.code ?? 'failed'}: ${data.message ?? ''}` })
      if (!/^response\.(completed|failed|incomplete)$/.test(event)) return false
      const { output, usage, error } = data.response
      const calls = output.filter((/** @type {Item} */ { type }) => type === 'function_call')
      // with its last line: a message that is sent as soon as that is shown is not dropped
      setTalk((before) => ({ ...before, items: [...before.items, ...output.map(sentAgain)], abort: null }))
      add(...linesOf(calls), endOf(usage, performance.now() - begun))
      if (error) add({ kind: 'error', text: `${error.code}: ${error.message}` })
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

/** An item of an answer, as the next request sends it. @param {Item} item */
const sentAgain = ({ type, role, content, call_id, name, arguments: given, ...rest }) => {
  if (type === 'function_call') return { type, call_id, name, arguments: given }
  return type === 'message'
    ? { role, content: (Array.isArray(content) ? content : []).map(({ text }) => text).join('') }
    : { type, role, content, ...rest }
}

/** More of the answer. @param {LaneTalk} talk @param {string} delta @returns {LaneTalk} */
const grown = (talk, delta) => {
  const newest = talk.lines.at(-1)
  return newest?.kind === 'answer'
    ? { ...talk, lines: [...talk.lines.slice(0, -1), { kind: 'answer', text: newest.text + delta }] }
    : { ...talk, lines: [...talk.lines, { kind: 'answer', text: delta }] }
}

/** @param {any} usage @param {number} ms @returns {Line} */
const endOf = (usage, ms) => {
  const tokens = usage ? `${usage.input_tokens} + ${usage.output_tokens} tokens, ` : ''
  const cost = usage?.cost_usd ? `${dollars(Number(usage.cost_usd))}, ` : ''
  return { kind: 'end', text: `${tokens}${cost}${duration(ms)}` }
}
