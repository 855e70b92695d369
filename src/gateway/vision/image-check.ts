import { ServiceError } from '#specs/errors/errors.ts'
import { signatureOf } from '#src/pages/content-type.ts'
import type { ImageLimits } from '../providers/provider-format.ts'
import { badImage } from './image-sources.ts'

/** Canonical names of MIME type aliases. A sequence type becomes the type of its images. */
const names: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/apng': 'image/png',
  'image/x-png': 'image/png',
  'image/heic-sequence': 'image/heic',
  'image/heif-sequence': 'image/heif',
}

const named = (mimeType: string): string => {
  const lower = mimeType.toLowerCase()
  return names[lower] ?? lower
}

/**
 * Whether the declared type matches the detected one. HEIC is HEIF with a particular codec, so either name is accepted
 * for the other.
 */
const isSame = (declared: string, found: string): boolean =>
  declared === found || (/^image\/hei[cf]$/.test(declared) && /^image\/hei[cf]$/.test(found))

/** An image to validate. */
export interface SeenBytes {
  /** Its first bytes, enough to detect the type. */
  readonly head: Uint8Array
  readonly size: number
  /** The declared MIME type; '' and `application/octet-stream` declare nothing. */
  readonly declared: string
}

/**
 * Validates an image against the limits of a provider family, by its bytes.
 *
 * @returns its MIME type.
 * @throws {ServiceError} `image_too_large`, `unsupported_format`; `bad_request` when it is not of the declared type.
 */
export const checkImage = (
  { head, size, declared }: SeenBytes,
  limits: Pick<ImageLimits, 'types' | 'maxBytes'>,
  at: string,
): string => {
  checkSize(size, limits, at)
  if (size === 0) throw badImage(at, 'is empty')
  const claim = named(declared)
  const saysMuch = claim !== '' && claim !== 'application/octet-stream'
  if (saysMuch && !limits.types.includes(claim)) throw unsupported(at, claim, limits)
  const found = typeOf(head)
  if (!limits.types.includes(found)) throw unsupported(at, found, limits)
  if (saysMuch && !isSame(claim, found)) throw badImage(at, `is ${found}, not ${claim} as declared`)
  return found
}

/** @throws {ServiceError} `image_too_large` */
export const checkSize = (size: number, { maxBytes }: Pick<ImageLimits, 'maxBytes'>, at: string): void => {
  if (size <= maxBytes) return
  const message = `${at} has ${size} bytes; this provider accepts at most ${maxBytes}.`
  throw new ServiceError('image_too_large', { param: at, message })
}

const unsupported = (at: string, type: string, { types }: Pick<ImageLimits, 'types'>): ServiceError => {
  const what = type === '' ? 'is not an image of a known type' : `is ${type}`
  const message = `${at} ${what}; this provider accepts ${types.join(', ')}.`
  return new ServiceError('unsupported_format', { param: at, message })
}

/** Types of images in the container of MP4, by their brand (ISO/IEC 23008-12, AV1 Image File Format). */
const brands: readonly (readonly [brand: RegExp, mimeType: string])[] = [
  [/^he(?:i[cxms]|v[cxms])/, 'image/heic'],
  [/^m(?:if|sf)1/, 'image/heif'],
  [/^avi[fs]/, 'image/avif'],
]

/** The type of a file by its first bytes; '' for an unknown one. */
const typeOf = (head: Uint8Array): string => {
  const found = signatureOf(head) ?? ''
  if (found !== 'video/mp4') return found
  const brand = Buffer.from(head.subarray(8, 12)).toString('latin1')
  return brands.find(([pattern]) => pattern.test(brand))?.[1] ?? found
}
