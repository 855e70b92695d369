import type { WireFormat } from '#specs/data/providers.ts'

/** What a family of providers takes. */
export interface ImageLimits {
  readonly types: readonly string[]
  /** Of one image, not encoded. */
  readonly maxBytes: number
  /** It fetches images from https addresses by itself. */
  readonly fetches: boolean
}

const mib = 1024 * 1024
const safe = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']

/** What those take of whom the interface says nothing: the set that is safe everywhere. */
const first: ImageLimits = { types: safe, maxBytes: 20 * mib, fetches: true }

const families: Readonly<Partial<Record<WireFormat, ImageLimits>>> = {
  openai: first,
  anthropic: { types: safe, maxBytes: 5 * mib, fetches: true },
  google: { types: [...safe, 'image/heic', 'image/heif'], maxBytes: 20 * mib, fetches: false },
}

/** The limits of the family that speaks a format. */
export const imageLimits = (format: WireFormat): ImageLimits => families[format] ?? first
