import type { FileService } from '#actors/capability/file-service.ts'
import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import { usualImages } from '#gateway/providers/provider-format.ts'
import { ImageBytes } from '#gateway/vision/image-bytes.ts'
import { byUrl, type ImageSource } from '#gateway/vision/image-sources.ts'
import { checkAddress, type RemoteImages } from '#gateway/vision/remote-image.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { type Delivered, newId, type Owner } from '#runtime/index.ts'
import { actorBlobs } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { inShares, nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore, JsonObject, Scope } from '#storage/index.ts'
import { type GivenPart, givenPart } from './given-parts.ts'

/** The input of a turn: its text, and its parts by reference when it has more than text. */
export interface TurnInput {
  readonly input: string
  readonly parts?: readonly JsonObject[]
}

/** Whose images they are: all of a session are removed with it. */
export interface MediaPlace {
  readonly actor: string
  readonly owner: Pick<Owner, 'project' | 'tenant'>
}

/** Dependencies of the images of turns. */
export interface TurnMediaParts {
  readonly blobs: BlobStore
  readonly remote: RemoteImages
  /** Called when a part names a file. */
  readonly files: () => Pick<FileService, 'find'>
}

type GivenImage = Extract<GivenPart, { kind: 'image' }>

/** Most bytes of the images in one model call, the newest ones: providers refuse longer requests. */
const maxShownBytes = 24 * 1024 * 1024

/** Base64 is made of pieces of this many bytes, a multiple of three, so that other work runs between them. */
const pieceBytes = 3 * 64 * 1024

const leftOut = '[An earlier image, which is not shown any more.]'

/**
 * Images in the input of turns. The log refers to them by id: their bytes are blobs of the session, so that neither a
 * commit nor a snapshot has them, and they are read only for model calls (specs/decisions/0001-sessions.md).
 */
export class TurnMedia {
  readonly #parts: TurnMediaParts

  constructor(parts: TurnMediaParts) {
    this.#parts = parts
  }

  /**
   * Stores the images of an input. They are durable when this resolves.
   *
   * @param scope of the caller, in which files are found.
   * @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, `not_found`, `invalid_field`, each
   * naming the part; {StoreUnavailable}
   */
  async take(input: readonly WireObject[], place: MediaPlace, scope: Scope): Promise<TurnInput> {
    const given = input.map((part, at) => givenPart(part, `input[${at}]`))
    const text = given.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
    if (given.every(({ kind }) => kind === 'text')) return { input: text }
    const reading = new ImageBytes(this.#parts.remote, new AbortController().signal)
    const parts: JsonObject[] = []
    try {
      // sequential, so that the error names the first invalid image, and to bound memory use
      for (const part of given)
        parts.push(
          part.kind === 'text'
            ? { type: 'input_text', text: part.text }
            : await this.#image(part, place, { scope, reading }),
        )
    } catch (error) {
      await this.#drop({ input: text, parts }, place)
      throw error
    }
    return { input: text, parts }
  }

  /** Waits for the delivery of a turn, and removes the images of one that did not begin. */
  async keptIf(delivery: Promise<Delivered>, input: TurnInput, place: MediaPlace): Promise<Delivered> {
    try {
      const delivered = await delivery
      if (delivered.duplicate) await this.#drop(input, place)
      return delivered
    } catch (error) {
      // after any other error the turn may have begun
      if (error instanceof ServiceError) await this.#drop(input, place)
      throw error
    }
  }

  async #drop({ parts = [] }: TurnInput, place: MediaPlace): Promise<void> {
    for (const { image_id: id } of parts)
      if (typeof id === 'string') await this.#parts.blobs.remove(place.owner.project, nameOf(id, place))
  }

  /** Copies the images of events that a fork has taken over. @throws {StoreUnavailable} */
  async copy(ids: readonly string[], { from, to }: Readonly<Record<'from' | 'to', MediaPlace>>): Promise<void> {
    const { blobs } = this.#parts
    for (const id of ids) {
      const bytes = await blobs.bytes(from.owner.project, nameOf(id, from))
      if (bytes !== null) await blobs.put(to.owner.project, nameOf(id, to), bytes)
    }
  }

  /** Returns a request with the bytes of its images. @throws {StoreUnavailable} */
  shown(request: ModelRequest, place: MediaPlace): ModelRequest | Promise<ModelRequest> {
    return request.messages.some(hasParts) ? this.#shown(request, place) : request
  }

  async #shown(request: ModelRequest, place: MediaPlace): Promise<ModelRequest> {
    let left = maxShownBytes
    const messages: ModelMessage[] = []
    for (const message of request.messages.toReversed()) {
      if (!hasParts(message)) {
        messages.push(message)
        continue
      }
      const parts: WireObject[] = []
      for (const part of message.parts.toReversed()) {
        left -= Number(part.bytes ?? 0)
        parts.push(left < 0 && part.image_id !== undefined ? textPart(leftOut) : await this.#sent(part, place))
      }
      messages.push({ ...message, parts: parts.reverse() })
    }
    return { ...request, messages: messages.reverse(), hasMedia: true }
  }

  /** The part as a chat completion has it. */
  async #sent(part: WireObject, { owner, actor }: MediaPlace): Promise<WireObject> {
    if (part.type === 'input_text') return textPart(String(part.text))
    const detail = part.detail === undefined ? {} : { detail: part.detail }
    if (part.image_url !== undefined) return { type: 'image_url', image_url: { url: part.image_url, ...detail } }
    const bytes = await this.#parts.blobs.bytes(owner.project, nameOf(String(part.image_id), { owner, actor }))
    if (bytes === null) return textPart(leftOut)
    const url = `data:${part.mime_type};base64,${await base64Of(bytes)}`
    return { type: 'image_url', image_url: { url, ...detail } }
  }

  async #image(
    part: Extract<GivenPart, { kind: 'image' | 'file' }>,
    place: MediaPlace,
    { scope, reading }: { readonly scope: Scope; readonly reading: ImageBytes },
  ): Promise<JsonObject> {
    if (part.kind === 'file')
      throw new ServiceError('bad_request', { param: part.at, message: `${part.at} is no image.` })
    const { remote, blobs } = this.#parts
    const source = part.fileId === null ? byUrl(part.url ?? '', part.at) : await this.#stored(part, place, scope)
    const common = { type: 'input_image', ...(part.detail !== '' && { detail: part.detail }) }
    if (source.kind === 'remote') {
      checkAddress(remote, source.url, source.at)
      return { ...common, image_url: source.url.href }
    }
    const { bytes, mimeType } = await reading.read(source, usualImages)
    const id = newId('img')
    await blobs.put(place.owner.project, nameOf(id, place), bytes)
    const named = part.fileId === null ? {} : { file_id: part.fileId }
    return { ...common, image_id: id, mime_type: mimeType, bytes: bytes.length, ...named }
  }

  /** A file of the caller, unless it belongs to a tenant other than that of the session. @throws {ServiceError} `not_found` */
  async #stored({ fileId, at }: GivenImage, { owner }: MediaPlace, scope: Scope): Promise<ImageSource> {
    const id = fileId ?? ''
    const found = await this.#parts.files().find(scope, id)
    const isForeign = found === null || (found.tenant !== null && found.tenant !== owner.tenant)
    if (isForeign) throw new ServiceError('not_found', { param: at, message: `There is no file ${id}.` })
    const pieces: Uint8Array[] = []
    for await (const piece of inShares(found.content())) pieces.push(piece)
    return { kind: 'file', at, bytes: Buffer.concat(pieces), mimeType: '' }
  }
}

const nameOf = (id: string, { actor, owner: { tenant } }: MediaPlace): string =>
  `${actorBlobs({ actor, tenant })}image.${id}`

type UserMessage = Extract<ModelMessage, { role: 'user' }>
type MessageWithParts = UserMessage & Required<Pick<UserMessage, 'parts'>>

const hasParts = (message: ModelMessage): message is MessageWithParts =>
  message.role === 'user' && message.parts !== undefined

const textPart = (text: string): WireObject => ({ type: 'text', text })

/** Pieces of 200 KB are joined as a rope, which a request is encoded from in shares as well. */
const base64Of = async (bytes: Uint8Array): Promise<string> => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let text = ''
  for (let at = 0; at < whole.length; at += pieceBytes) {
    if (at > 0 && at % (16 * pieceBytes) === 0) await nextSlice()
    text += whole.toString('base64', at, Math.min(at + pieceBytes, whole.length))
  }
  return text
}

/** The ids of the images to which events or messages refer. */
export const imageIdsIn = (parts: unknown): readonly string[] =>
  JSON.stringify(parts ?? null).match(/(?<="image_id\\*":\\*")img_[0-9a-z]+/g) ?? []
