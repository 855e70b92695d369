import type { ProviderSettings } from '#specs/data/provider-credentials.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import { providerFormats } from '../providers/provider-formats.ts'

const versionAtEnd = /\/v\d{1,4}(?:alpha|beta)?\d{0,4}$/

/** Returns a base URL as routes require it: up to the version segment, without a trailing slash. */
export const versionedUrl = (format: WireFormat, baseUrl: string, settings?: ProviderSettings): string => {
  const url = baseUrl.replace(/(?<!\/)\/+$/, '')
  const { version, address } = providerFormats[format]
  if (address !== undefined) return address(url, settings)
  return version === undefined || versionAtEnd.test(url) ? url : `${url}/${version}`
}

const placeholder = /\{(\w+)\}/g

/** Returns the settings that a provider's base URL requires and that are not given. */
export const missingSettings = (template: string, settings: ProviderSettings = {}): readonly string[] =>
  [...template.matchAll(placeholder)].map(([, name = '']) => name).filter((name) => !textAt(settings, name))

/** Returns a provider's base URL with the settings of a connection. */
export const filledUrl = (template: string, settings: ProviderSettings = {}): string =>
  template.replaceAll(placeholder, (_, name: string) => textAt(settings, name))

const textAt = (settings: ProviderSettings, name: string): string => {
  const value = Object.entries(settings).find(([field]) => field === name)?.[1]
  return typeof value === 'string' ? value : ''
}
