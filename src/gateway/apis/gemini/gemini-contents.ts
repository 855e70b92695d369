import { ownIdPrefix } from '#gateway/providers/google/google-contents.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalid, needMediaType, needText } from '../chat-parts.ts'
import { camelled } from './gemini-names.ts'

/**
 * Converts contents of Google's API to messages of chat completions. Google's calls need no ids: a result without one
 * answers the oldest call of its name that has none.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`, `bad_request` for unsupported parts.
 */
export class GeminiContents {
  readonly #own: boolean
  /** Ids of calls without a result, by the name of the function. */
  readonly #pending = new Map<string, string[]>()
  #calls = 0

  /** @param own whether Google serves the call: only it reads signatures. */
  constructor(own: boolean) {
    this.#own = own
  }

  /** The instructions, which have text only. */
  system(instruction: unknown, at: string): readonly WireObject[] {
    const parts = arrayOf(objectOf(instruction).parts).map(objectOf)
    const other = parts.findIndex(({ text }) => typeof text !== 'string')
    if (other >= 0) throw invalid(`${at}.parts[${other}].text`, 'must be string')
    const content = parts.map(({ text }) => textOf(text)).join('\n')
    return content === '' ? [] : [{ role: 'system', content }]
  }

  messages(contents: readonly unknown[]): readonly WireObject[] {
    return contents.flatMap((content, at) => {
      const { role, parts } = objectOf(content)
      const path = `contents[${at}]`
      const read = arrayOf(parts).map((part) => partOf(objectOf(part)))
      if (role === 'model') return [this.#answer(read, path)]
      if (role === 'user' || role === 'function' || role === undefined || role === null) return this.#user(read, path)
      throw invalid(`${path}.role`, 'must be user or model')
    })
  }

  #answer(parts: readonly WireObject[], path: string): WireObject {
    const others: WireObject[] = []
    const calls: WireObject[] = []
    for (const [at, part] of parts.entries()) {
      const place = `${path}.parts[${at}]`
      if (isObject(part.functionCall)) calls.push(this.#call(part, place))
      // thoughts of earlier turns are no part of the conversation
      else if (part.thought !== true) others.push(contentOf(part, place))
    }
    return {
      role: 'assistant',
      content: others.length === 0 ? null : plainOr(others),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
  }

  #call(part: WireObject, path: string): WireObject {
    const { id, name: given, args } = objectOf(part.functionCall)
    const name = needText(given, `${path}.functionCall.name`)
    const own = textOf(id) || `${ownIdPrefix}${this.#calls++}`
    const waiting = this.#pending.get(name)
    if (waiting === undefined) this.#pending.set(name, [own])
    else waiting.push(own)
    const signature = textOf(part.thoughtSignature)
    return {
      ...{ id: own, type: 'function', function: { name, arguments: JSON.stringify(objectOf(args)) } },
      ...(this.#own && signature !== '' && { extra_content: { google: { thought_signature: signature } } }),
    }
  }

  #user(parts: readonly WireObject[], path: string): readonly WireObject[] {
    const messages: WireObject[] = []
    const others: WireObject[] = []
    for (const [at, part] of parts.entries()) {
      const place = `${path}.parts[${at}]`
      if (!isObject(part.functionResponse)) others.push(contentOf(part, place))
      else {
        messages.push(this.#result(part.functionResponse, place))
        others.push(...mediaIn(part.functionResponse, `${place}.functionResponse`))
      }
    }
    return others.length === 0 ? messages : [...messages, { role: 'user', content: plainOr(others) }]
  }

  #result(fields: WireObject, path: string): WireObject {
    const { id, name: given, response } = fields
    const name = needText(given, `${path}.functionResponse.name`)
    const waiting = this.#pending.get(name) ?? []
    const found = textOf(id) === '' ? 0 : waiting.indexOf(textOf(id))
    const [tool_call_id] = found < 0 ? [] : waiting.splice(found, 1)
    if (tool_call_id === undefined) throw invalid(`${path}.functionResponse`, 'must answer a functionCall before it')
    return { role: 'tool', tool_call_id, name, content: resultText(objectOf(response)) }
  }
}

/** Images and files of a result, which follow it: a result itself can only have text. */
const mediaIn = ({ parts }: WireObject, path: string): readonly WireObject[] =>
  arrayOf(parts).map((part, at) => contentOf(partOf(objectOf(part)), `${path}.parts[${at}]`))

/** A result that is nothing but a text is sent as that text. */
const resultText = (response: WireObject): string => {
  const [only, ...others] = Object.entries(response)
  const isText = others.length === 0 && (only?.[0] === 'output' || only?.[0] === 'result')
  return isText && typeof only?.[1] === 'string' ? only[1] : JSON.stringify(response)
}

/** The part with its names in camel case, and those of what it holds. */
const partOf = (part: WireObject): WireObject =>
  Object.fromEntries(
    Object.entries(camelled(part)).map(([name, value]) => [name, isObject(value) ? camelled(value) : value]),
  )

const plainOr = (parts: readonly WireObject[]): unknown => {
  const [only, ...others] = parts
  return others.length === 0 && only?.type === 'text' ? only.text : parts
}

const contentOf = (part: WireObject, path: string): WireObject => {
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  if (isObject(part.inlineData)) {
    const { mimeType, data } = part.inlineData
    const type = needMediaType(mimeType, `${path}.inlineData.mimeType`).toLowerCase()
    return mediaOf(type, { data: needText(data, `${path}.inlineData.data`) })
  }
  if (isObject(part.fileData)) {
    const { mimeType, fileUri } = part.fileData
    return mediaOf(textOf(mimeType).toLowerCase(), { url: needText(fileUri, `${path}.fileData.fileUri`) })
  }
  const [name = 'part'] = Object.keys(part)
  throw new ServiceError('bad_request', { param: path, message: `${path}: ${name} is not supported here.` })
}

type Media = { readonly data: string } | { readonly url: string }

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
}

const mediaOf = (type: string, media: Media): WireObject => {
  const url = 'url' in media ? media.url : `data:${type};base64,${media.data}`
  const format = audioFormats[type]
  if (format !== undefined && 'data' in media) return { type: 'input_audio', input_audio: { data: media.data, format } }
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  const file = 'url' in media ? { file_url: url } : { file_data: url }
  return { type: 'file', file: { filename: type === 'text/plain' ? 'document.txt' : 'document.pdf', ...file } }
}
