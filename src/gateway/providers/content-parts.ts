import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/** Media as base64 with its type, or as a URL for the provider to fetch. */
export type MediaSource =
  | { readonly kind: 'base64'; readonly mimeType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }

/** One part of a message, independent of any provider's format. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string; readonly part: WireObject }
  | {
      readonly kind: 'image' | 'file' | 'audio'
      readonly source: MediaSource
      readonly filename: string | null
      /** The part as the caller sent it, for fields specific to one provider (`cache_control`). */
      readonly part: WireObject
      /** Path in the request body, for error messages. */
      readonly at: string
    }

/**
 * Reads the content of a message: a string, null, or an array of parts in OpenAI's format. Empty texts are dropped.
 *
 * @param at path of the content in the body, such as `messages[2].content`.
 * @throws {ServiceError} `invalid_field`
 */
export function contentParts(content: unknown, at: string): readonly ContentPart[] {
  if (content === null || content === undefined || content === '') return []
  if (typeof content === 'string') return [{ kind: 'text', text: content, part: {} }]
  if (!Array.isArray(content)) throw invalidField(at, 'content must be text or a list of parts.')
  return content.flatMap((part, place) => contentPart(part, `${at}[${place}]`))
}

/** Returns the concatenated text of a content; other parts are dropped. */
export const contentText = (content: unknown, at: string): string =>
  contentParts(content, at)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('')

/** Reads one part of a list; a text without any is none. @throws {ServiceError} `invalid_field` */
export function contentPart(part: unknown, at: string): readonly ContentPart[] {
  if (!isObject(part)) throw invalidField(at, 'A part of content must be an object.')
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const text = textOf(part.type === 'text' ? part.text : part.refusal)
      return text === '' ? [] : [{ kind: 'text', text, part }]
    }
    case 'image_url': {
      const url = typeof part.image_url === 'string' ? part.image_url : textOf(objectOf(part.image_url).url)
      return [{ kind: 'image', source: sourceOf(url, `${at}.image_url.url`), filename: null, part, at }]
    }
    case 'input_audio':
      return [{ kind: 'audio', source: audioSource(objectOf(part.input_audio), at), filename: null, part, at }]
    case 'file':
      return [filePart(part, objectOf(part.file), `${at}.file`)]
    default:
      throw invalidField(`${at}.type`, 'A part must be one of text, image_url, input_audio and file.')
  }
}

function filePart(part: WireObject, file: WireObject, at: string): ContentPart {
  const filename = textOf(file.filename) === '' ? null : textOf(file.filename)
  const data = textOf(file.file_data)
  if (textOf(file.file_url) !== '') {
    return { kind: 'file', source: sourceOf(textOf(file.file_url), `${at}.file_url`), filename, part, at }
  }
  if (data === '') throw invalidField(at, 'This provider accepts files only as file_data, not by their ids.')
  const source: MediaSource = data.startsWith('data:')
    ? sourceOf(data, `${at}.file_data`)
    : { kind: 'base64', mimeType: 'application/pdf', data }
  return { kind: 'file', source, filename, part, at }
}

function audioSource({ data, format }: WireObject, at: string): MediaSource {
  if (textOf(data) === '') throw invalidField(`${at}.input_audio.data`, 'Audio must be base64.')
  return { kind: 'base64', mimeType: format === 'mp3' ? 'audio/mp3' : 'audio/wav', data: textOf(data) }
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[^;,]*)*;base64,/i

function sourceOf(url: string, at: string): MediaSource {
  const head = dataUrl.exec(url)
  if (head !== null) {
    const named = (head[1] ?? 'application/octet-stream').toLowerCase()
    return {
      kind: 'base64',
      mimeType: named === 'image/jpg' ? 'image/jpeg' : named,
      data: url.slice(head[0].length),
    }
  }
  if (!/^https?:\/\//i.test(url)) throw invalidField(at, 'A URL must start with https:// or be a data: URL in base64.')
  return { kind: 'url', url }
}
