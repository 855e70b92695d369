import type { FileService } from '#actors/capability/file-service.ts'
import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import type { GivenImage } from '#gateway/providers/image-format.ts'
import { type ImageLimits, usualImages } from '#gateway/providers/provider-format.ts'
import { ImageBytes } from '#gateway/vision/image-bytes.ts'
import { checkImage } from '#gateway/vision/image-check.ts'
import { byUrl, type ImageSource } from '#gateway/vision/image-sources.ts'
import { checkAddress, type RemoteImages } from '#gateway/vision/remote-image.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { type Delivered, newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { inShares, nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore, JsonObject, Scope } from '#storage/index.ts'
import { type GivenPart, givenPart } from './given-parts.ts'
import { hasParts, partCount } from './part-count.ts'
import { ShownMemory } from './shown-memory.ts'
import { imageName, type MediaPlace, type UnclaimedImages } from './unclaimed-images.ts'

/** The input of a turn: its text, and its parts by reference when it has more than text. */
export interface TurnInput {
  readonly input: string
  readonly parts?: readonly JsonObject[]
}

/** Dependencies of the images of turns. */
export interface TurnMediaParts {
  readonly blobs: BlobStore
  readonly unclaimed: Pick<UnclaimedImages, 'during'>
  /** Whether every process that may run the session knows parts: those of an earlier release drop them. */
  readonly isKnown: () => boolean | Promise<boolean>
  readonly remote: RemoteImages
  /** Most bytes of an image that the providers of a model take. */
  readonly maxBytes: (project: string, model: string) => Promise<number>
  /** Called when a part names a file. */
  readonly files: () => Pick<FileService, 'find'>
}

/** The input of a turn, and where it is stored: `after` is the end of the session's log. */
interface GivenTurn {
  readonly input: readonly WireObject[]
  readonly place: MediaPlace & { readonly after: number }
  readonly model: string
  /** In which files are found; null for a credential that browsers show, which names none. */
  readonly scope: Scope | null
}

type ImagePart = Extract<GivenPart, { kind: 'image' }>

/** How one image is read and stored. */
interface ReadingImage extends Pick<GivenTurn, 'scope'> {
  readonly reading: ImageBytes
  readonly limits: ImageLimits
  readonly id: string
}

const upgrading = 'Turns take images once every server of this installation is upgraded. Try again.'

/** Most bytes of the images in one model call, the newest ones: providers refuse longer requests. */
const maxShownBytes = 24 * 1024 * 1024

/** Base64 is made of pieces of this many bytes, a multiple of three, so that other work runs between them. */
const pieceBytes = 3 * 64 * 1024

/** A model call would leave out the others. */
const tooMuch = (at: string): ServiceError => {
  const message = `${at} is too large: the images of a turn have at most ${maxShownBytes} bytes together.`
  return new ServiceError('image_too_large', { param: at, message })
}

const leftOut = '[An earlier image, which is not shown any more.]'

/**
 * Images in the input of turns. The log refers to them by id: their bytes are blobs of the session, so that neither a
 * commit nor a snapshot has them, and they are read only for model calls (specs/decisions/0001-sessions.md).
 */
export class TurnMedia {
  readonly #parts: TurnMediaParts
  readonly #memory: ShownMemory
  /** Of files that are read: many turns of few bytes may each name a large one. */
  readonly #reading = new ShownMemory()

  /** @param memory of images in model calls. */
  constructor(parts: TurnMediaParts, memory = new ShownMemory()) {
    this.#parts = parts
    this.#memory = memory
  }

  /**
   * Stores the images of an input, and begins its turn.
   *
   * @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, `not_found`, `invalid_field`, each
   * naming the part; `overloaded` during an upgrade; what the turn is refused with; {StoreUnavailable}
   */
  async begin(
    { input, place, model, scope }: GivenTurn,
    deliver: (given: TurnInput) => Promise<Delivered>,
  ): Promise<Delivered> {
    const given = input.map((part, at) => givenPart(part, `input[${at}]`))
    const text = given.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
    if (given.every(({ kind }) => kind === 'text')) return deliver({ input: text })
    if (!(await this.#parts.isKnown())) throw new ServiceError('overloaded', { param: 'input', message: upgrading })
    const reading = new ImageBytes(this.#parts.remote, new AbortController().signal)
    const limits = { ...usualImages, maxBytes: await this.#parts.maxBytes(place.owner.project, model) }
    const ids = given.map(() => newId('img'))
    return this.#parts.unclaimed.during(ids, place, async () => {
      const parts: JsonObject[] = []
      let bytes = 0
      // sequential, so that the error names the first invalid image, and to bound memory use
      for (const [at, part] of given.entries()) {
        const taken =
          part.kind === 'text'
            ? { type: 'input_text', text: part.text }
            : await this.#image(part, place, { scope, reading, limits, id: ids[at] ?? '' })
        parts.push(taken)
        bytes += 'bytes' in taken ? Number(taken.bytes) : 0
        if (bytes > maxShownBytes) throw tooMuch(part.at)
      }
      return deliver({ input: text, parts })
    })
  }

  /** Copies the images of a log that a fork takes over, and makes the fork. @throws {StoreUnavailable} */
  copy(
    ids: readonly string[],
    { from, to }: Readonly<Record<'from' | 'to', MediaPlace>>,
    make: () => Promise<Delivered>,
  ): Promise<Delivered> {
    const { blobs, unclaimed } = this.#parts
    return unclaimed.during(ids, { ...to, after: 0 }, async () => {
      for (const id of ids) {
        const bytes = await blobs.bytes(from.owner.project, imageName(id, from))
        if (bytes !== null) await blobs.put(to.owner.project, imageName(id, to), bytes)
      }
      return make()
    })
  }

  /** Returns an image of a session and its media type; null when it has none of this id. @throws {StoreUnavailable} */
  async find(id: string, place: MediaPlace): Promise<GivenImage | null> {
    if (!/^img_[0-9a-z]{26}$/.test(id)) return null
    const stored = await this.#parts.blobs.bytes(place.owner.project, imageName(id, place))
    if (stored === null) return null
    const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
    return { bytes, mimeType: checkImage({ head: bytes, size: bytes.length, declared: '' }, usualImages, id) }
  }

  /** Makes a call with the bytes of the images of its request. @throws what `call` throws; {StoreUnavailable} */
  async during<T>(
    request: ModelRequest,
    place: MediaPlace & { readonly signal: AbortSignal },
    call: (shown: ModelRequest) => Promise<T>,
  ): Promise<T> {
    const { parts, bytes } = partCount(request.messages)
    if (parts === 0) return call(request)
    const held = { project: place.owner.project, bytes: Math.min(maxShownBytes, bytes), signal: place.signal }
    return this.#memory.holding(held, async () => call(await this.#shown(request, place)))
  }

  async #shown(request: ModelRequest, place: MediaPlace): Promise<ModelRequest> {
    let left = maxShownBytes
    const maxBytes = await this.#parts.maxBytes(place.owner.project, request.model)
    const messages: ModelMessage[] = []
    for (const message of request.messages.toReversed()) {
      if (!hasParts(message)) {
        messages.push(message)
        continue
      }
      const parts: WireObject[] = []
      for (const part of message.parts.toReversed()) {
        const bytes = Number(part.bytes ?? 0)
        if (bytes <= maxBytes) left -= bytes
        const isLeftOut = part.image_id !== undefined && (left < 0 || bytes > maxBytes)
        parts.push(isLeftOut ? textPart(leftOut) : await this.#sent(part, place))
      }
      messages.push({ ...message, parts: parts.reverse() })
    }
    return { ...request, messages: messages.reverse(), hasMedia: true }
  }

  /** The part as a chat completion has it. */
  async #sent(part: WireObject, place: MediaPlace): Promise<WireObject> {
    if (part.type === 'input_text') return textPart(String(part.text))
    const detail = part.detail === undefined ? {} : { detail: part.detail }
    if (part.image_url !== undefined) return { type: 'image_url', image_url: { url: part.image_url, ...detail } }
    const bytes = await this.#parts.blobs.bytes(place.owner.project, imageName(String(part.image_id), place))
    if (bytes === null) return textPart(leftOut)
    const url = `data:${part.mime_type};base64,${await base64Of(bytes)}`
    return { type: 'image_url', image_url: { url, ...detail } }
  }

  #image(part: ImagePart, place: MediaPlace, how: ReadingImage): Promise<JsonObject> {
    const keep = () => this.#kept(part, place, how)
    // the size of a file is not known before it is read
    const held = { project: place.owner.project, bytes: usualImages.maxBytes, signal: new AbortController().signal }
    return part.fileId === null ? keep() : this.#reading.holding(held, keep)
  }

  async #kept(part: ImagePart, place: MediaPlace, { scope, reading, limits, id }: ReadingImage): Promise<JsonObject> {
    const { remote, blobs } = this.#parts
    const source = part.fileId === null ? byUrl(part.url ?? '', part.at) : await this.#stored(part, place, scope)
    const common = { type: 'input_image', ...(part.detail !== '' && { detail: part.detail }) }
    if (source.kind === 'remote') {
      checkAddress(remote, source.url, source.at)
      return { ...common, image_url: source.url.href }
    }
    const { bytes, mimeType } = await reading.read(source, limits)
    await blobs.put(place.owner.project, imageName(id, place), bytes)
    const named = part.fileId === null ? {} : { file_id: part.fileId }
    return { ...common, image_id: id, mime_type: mimeType, bytes: bytes.length, ...named }
  }

  /** A file of the caller, unless it belongs to a tenant other than that of the session. @throws {ServiceError} `not_found` */
  async #stored({ fileId, at }: ImagePart, { owner }: MediaPlace, scope: Scope | null): Promise<ImageSource> {
    const id = fileId ?? ''
    const found = scope === null ? null : await this.#parts.files().find(scope, id)
    const isForeign = found === null || (found.tenant !== null && found.tenant !== owner.tenant)
    if (isForeign) throw new ServiceError('not_found', { param: at, message: `There is no file ${id}.` })
    const pieces: Uint8Array[] = []
    let length = 0
    for await (const piece of inShares(found.content())) {
      pieces.push(piece)
      length += piece.length
      if (length > usualImages.maxBytes) break
    }
    return { kind: 'file', at, bytes: Buffer.concat(pieces), mimeType: '' }
  }
}

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
