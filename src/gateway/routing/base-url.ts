import type { WireFormat } from '#specs/data/providers.ts'

/** The version segment of each format whose SDKs leave it out of their base URLs; people write it either way. */
const versions: Readonly<Partial<Record<WireFormat, string>>> = {
  anthropic: 'v1',
  google: 'v1beta',
  perplexity: 'v1',
  elevenlabs: 'v1',
  deepgram: 'v1',
  spitch: 'v1',
}

const versionAtEnd = /\/v\d{1,4}(?:alpha|beta)?\d{0,4}$/

/** A base URL as routes have it: up to the version segment, without a slash at its end. */
export const versionedUrl = (format: WireFormat, baseUrl: string): string => {
  const url = baseUrl.replace(/(?<!\/)\/+$/, '')
  const version = versions[format]
  return version === undefined || versionAtEnd.test(url) ? url : `${url}/${version}`
}
