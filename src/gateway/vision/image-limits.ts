import type { WireFormat } from '#specs/data/providers.ts'

/** Image limits of a family of providers. */
export interface ImageLimits {
  readonly types: readonly string[]
  /** Maximum size of one decoded image. */
  readonly maxBytes: number
  /** Whether the provider fetches https URLs itself. */
  readonly fetches: boolean
}

const mib = 1024 * 1024
const safe = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']

/** Default limits, for providers without documented ones: types that are supported everywhere. */
const first: ImageLimits = { types: safe, maxBytes: 20 * mib, fetches: true }

const families: Readonly<Partial<Record<WireFormat, ImageLimits>>> = {
  openai: first,
  anthropic: { types: safe, maxBytes: 5 * mib, fetches: true },
  google: { types: [...safe, 'image/heic', 'image/heif'], maxBytes: 20 * mib, fetches: false },
}

/** Returns the limits of the providers that use a wire format. */
export const imageLimits = (format: WireFormat): ImageLimits => families[format] ?? first
