import type { WireFormat } from '#specs/data/providers.ts'

/** Version segment of the formats whose SDKs leave it out of the base URL; users write the URL either way. */
const versions: Readonly<Partial<Record<WireFormat, string>>> = {
  anthropic: 'v1',
  google: 'v1beta',
  perplexity: 'v1',
  elevenlabs: 'v1',
  deepgram: 'v1',
  spitch: 'v1',
}

const versionAtEnd = /\/v\d{1,4}(?:alpha|beta)?\d{0,4}$/

/** Returns a base URL as routes require it: up to the version segment, without a trailing slash. */
export const versionedUrl = (format: WireFormat, baseUrl: string): string => {
  const url = baseUrl.replace(/(?<!\/)\/+$/, '')
  const version = versions[format]
  return version === undefined || versionAtEnd.test(url) ? url : `${url}/${version}`
}
