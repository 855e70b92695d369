import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { type ContentPart, contentParts, contentText, type MediaSource, unsayable } from '../content-parts.ts'
import { plainCallId, signatureIn } from '../tool-call-id.ts'

/** A conversation in Google's words. */
export interface GoogleDialogue {
  readonly system: readonly WireObject[]
  readonly contents: readonly GoogleTurn[]
}

/** What one side says in a row. */
export interface GoogleTurn {
  readonly role: 'user' | 'model'
  readonly parts: WireObject[]
}

/** Whose calls the history may hold. */
export interface Signing {
  /** Whose signatures are good. */
  readonly model: string
  /** The model refuses a history whose calls are not signed. */
  readonly signs: boolean
}

/** Ids that we made up, because the model gave none; they are not sent back. */
export const ownIdPrefix = 'call_own_'

/**
 * Stands for a signature that we do not have (the call was made by another model): Google's documented way to say so.
 * Without it models from the third generation on refuse the history.
 */
const noSignature = 'skip_thought_signature_validator'

/**
 * Instructions stand beside the dialogue, results of tools are the user's side, and what one side says in a row is one
 * turn. Instructions alone are sent as the user's words, since there has to be some.
 *
 * @throws {ServiceError} `invalid_field`
 */
export function googleDialogue(messages: readonly unknown[], signing: Signing): GoogleDialogue {
  const system: WireObject[] = []
  const contents: GoogleTurn[] = []
  const names = new Map<string, string>()
  for (const [place, message] of messages.entries()) {
    const at = `messages[${place}]`
    const fields = objectOf(message)
    for (const call of arrayOf(fields.tool_calls)) remember(names, objectOf(call))
    if (fields.role === 'system' || fields.role === 'developer') {
      const text = contentText(fields.content, `${at}.content`)
      if (text !== '') system.push({ text })
    } else say(contents, fields.role === 'assistant' ? 'model' : 'user', partsOf(fields, at, { names, signing }))
  }
  if (contents.length === 0) return { system: [], contents: [{ role: 'user', parts: system }] }
  return { system, contents }
}

function say(contents: GoogleTurn[], role: GoogleTurn['role'], parts: readonly WireObject[]): void {
  if (parts.length === 0) return
  const last = contents.at(-1)
  if (last?.role === role) last.parts.push(...parts)
  else contents.push({ role, parts: [...parts] })
}

/** A result of a tool names its call only; Google wants the function's name. */
const remember = (names: Map<string, string>, call: WireObject): void => {
  names.set(plainCallId(textOf(call.id)), textOf(objectOf(call.function).name))
}

function partsOf(
  message: WireObject,
  at: string,
  { names, signing }: { readonly names: ReadonlyMap<string, string>; readonly signing: Signing },
): WireObject[] {
  switch (message.role) {
    case 'user':
      return contentParts(message.content, `${at}.content`).map(partOf)
    case 'assistant': {
      const said = contentParts(message.content, `${at}.content`).map(partOf)
      return [...said, ...arrayOf(message.tool_calls).map((call, place) => callPart(objectOf(call), place, signing))]
    }
    case 'tool':
      return resultParts(message, at, names)
    default:
      throw unsayable(`${at}.role`, 'A role must be one of system, developer, user, assistant and tool.')
  }
}

const partOf = (part: ContentPart): WireObject => (part.kind === 'text' ? { text: part.text } : mediaPart(part.source))

const mediaPart = (source: MediaSource): WireObject =>
  source.kind === 'base64'
    ? { inlineData: { mimeType: source.mimeType, data: source.data } }
    : { fileData: { fileUri: source.url, ...mimeTypeOf(source.url) } }

const mimeTypes: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
}

/** By the address's ending; without one Google looks for itself. */
function mimeTypeOf(url: string): { readonly mimeType?: string } {
  const ending = /\.(\w+)(?:[?#]|$)/.exec(url.slice(url.lastIndexOf('/')))?.[1]?.toLowerCase()
  const mimeType = ending === undefined ? undefined : mimeTypes[ending]
  return mimeType === undefined ? {} : { mimeType }
}

/** Of calls made side by side only the first carries a signature. */
function callPart(call: WireObject, place: number, { model, signs }: Signing): WireObject {
  const id = textOf(call.id)
  const { name, arguments: text } = objectOf(call.function)
  const google = objectOf(objectOf(call.extra_content).google)
  const known = signatureIn(id, model) ?? (textOf(google.thought_signature) || null)
  const signature = known ?? (signs && place === 0 ? noSignature : null)
  return {
    functionCall: { ...sentId(id), name: textOf(name), args: argsOf(textOf(text)) },
    ...(signature === null ? {} : { thoughtSignature: signature }),
  }
}

/** Arguments are objects here; what a model wrote wrongly is shown to it as it was. */
function argsOf(text: string): WireObject {
  if (text.trim() === '') return {}
  const parsed = parseJson(text)
  return isObject(parsed) ? parsed : { malformed_arguments: text }
}

/** Media in a result follow it as parts of their own. */
function resultParts(message: WireObject, at: string, names: ReadonlyMap<string, string>): WireObject[] {
  const id = textOf(message.tool_call_id)
  const name = names.get(plainCallId(id)) ?? (textOf(message.name) || 'tool')
  const parts = contentParts(message.content, `${at}.content`)
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const parsed = parseJson(text)
  const response = isObject(parsed) ? parsed : { output: text }
  const media = parts.filter((part) => part.kind !== 'text').map(partOf)
  return [{ functionResponse: { ...sentId(id), name, response } }, ...media]
}

const sentId = (id: string): { readonly id?: string } => {
  const plain = plainCallId(id)
  return plain === '' || plain.startsWith(ownIdPrefix) ? {} : { id: plain }
}
