import { createRequire } from 'node:module'

/*
 * Checks by packages that take a while to load: each at its first use, so that a server without personal data in its
 * requests never waits for them.
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

/** Structure, length and check digits of a country's IBANs; blanks are passed over. */
export const isIban = (text: string): boolean => {
  ibans ??= load('validator/lib/isIBAN.js').default
  return ibans?.(text) ?? false
}

/** A tax number of a country such as `it-IT`, by its check digits. */
export const isTaxId = (text: string, locale: string): boolean => {
  taxIds ??= load('validator/lib/isTaxID.js')
  return taxIds?.(text, locale) ?? false
}

/** An identity number of a country such as `IN`, by its check digits. */
export const isIdentityCard = (text: string, locale: string): boolean => {
  identityCards ??= load('validator/lib/isIdentityCard.js')
  return identityCards?.(text, locale) ?? false
}

/** A phone number as its country's plan has it; null when there is none such. */
export const phoneOf = (text: string, region: string): PhoneNumber | null => {
  phones ??= load('libphonenumber-js/min').parsePhoneNumberFromString
  return phones?.(text, region) ?? null
}

/** Whether a country's plan is known. */
export const isPhoneRegion = (region: string): boolean => {
  regions ??= load('libphonenumber-js/min').isSupportedCountry
  return regions?.(region) ?? false
}

/** The check digit that cards have (ISO/IEC 7812, Luhn). */
export const isLuhn = (digits: string): boolean => {
  let sum = 0
  for (let at = digits.length - 1, twice = false; at >= 0; at -= 1, twice = !twice) {
    const digit = digits.charCodeAt(at) - 48
    const doubled = twice ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
