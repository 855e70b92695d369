import { createRequire } from 'node:module'

/*
 * Checks that use packages with a noticeable loading time. Each package is loaded on first use, so that a server whose
 * requests contain no personal data never loads it.
 */

const load = createRequire(import.meta.url)

interface PhoneNumber {
  isValid(): boolean
  isPossible(): boolean
}

let ibans: ((text: string) => boolean) | undefined
let taxIds: ((text: string, locale: string) => boolean) | undefined
let identityCards: ((text: string, locale: string) => boolean) | undefined
let phones: ((text: string, region: string) => PhoneNumber | undefined) | undefined
let regions: ((region: string) => boolean) | undefined

/** Validates structure, length and check digits of an IBAN; spaces are ignored. */
export const isIban = (text: string): boolean => {
  ibans ??= load('validator/lib/isIBAN.js').default
  return ibans?.(text) ?? false
}

/** Validates the check digits of a tax number; `locale` is a country such as `it-IT`. */
export const isTaxId = (text: string, locale: string): boolean => {
  taxIds ??= load('validator/lib/isTaxID.js')
  return taxIds?.(text, locale) ?? false
}

/** Validates the check digits of an identity number; `locale` is a country such as `IN`. */
export const isIdentityCard = (text: string, locale: string): boolean => {
  identityCards ??= load('validator/lib/isIdentityCard.js')
  return identityCards?.(text, locale) ?? false
}

/** Parses a phone number by its country's numbering plan; null when it does not fit. */
export const phoneOf = (text: string, region: string): PhoneNumber | null => {
  phones ??= load('libphonenumber-js/min').parsePhoneNumberFromString
  return phones?.(text, region) ?? null
}

/** Whether the numbering plan of a country is known. */
export const isPhoneRegion = (region: string): boolean => {
  regions ??= load('libphonenumber-js/min').isSupportedCountry
  return regions?.(region) ?? false
}

/** Validates the check digit of card numbers (ISO/IEC 7812, Luhn). */
export const isLuhn = (digits: string): boolean => {
  let sum = 0
  for (let at = digits.length - 1, twice = false; at >= 0; at -= 1, twice = !twice) {
    const digit = digits.charCodeAt(at) - 48
    const doubled = twice ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
