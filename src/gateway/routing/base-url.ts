import type { WireFormat } from '#specs/data/providers.ts'
import { providerFormats } from '../providers/provider-formats.ts'

const versionAtEnd = /\/v\d{1,4}(?:alpha|beta)?\d{0,4}$/

/** Returns a base URL as routes require it: up to the version segment, without a trailing slash. */
export const versionedUrl = (format: WireFormat, baseUrl: string): string => {
  const url = baseUrl.replace(/(?<!\/)\/+$/, '')
  const { version } = providerFormats[format]
  return version === undefined || versionAtEnd.test(url) ? url : `${url}/${version}`
}
