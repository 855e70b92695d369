import { isLuhn } from './checks.ts'

/** Sum of the digits, each times its weight. */
const weighted = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0)

/** Whether the first six digits are a day, in the order of year, month, day or of day, month, year. */
export const isDated = (digits: string): boolean =>
  /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])/.test(digits) ||
  /^(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d\d/.test(digits)

/** Switzerland: the check digit of an EAN-13 (BSV, "AHV-Nummer"). */
export const isAhv = (digits: string): boolean => weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0

/** Austria: the fourth digit checks the others. */
export const isSvnr = (digits: string): boolean =>
  weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(digits[3])

/** Iceland: the ninth digit checks the first eight. */
export const isKennitala = (digits: string): boolean => weighted(digits, [3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0

/** Sweden: Luhn over the last ten digits. */
export const isPersonnummer = (digits: string): boolean =>
  isLuhn(digits.slice(-10)) && isDated(digits.slice(-10).replace(/^(....)[6-9]/, (_, head: string) => `${head}0`))

/** Countries of former Yugoslavia: modulus 11 over 13 digits. */
export const isJmbg = (digits: string): boolean => weighted(digits, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0

/** Romania: 10 stands for 1. */
export const isCnp = (digits: string): boolean => {
  const rest = weighted(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
  return (rest === 10 ? 1 : rest) === Number(digits[12])
}

/** Hungary: the ninth digit of a social security number. */
export const isTaj = (digits: string): boolean => weighted(digits, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === Number(digits[8])

/** Turkey: the last two digits. */
export const isTckn = (digits: string): boolean => {
  const [odd, even] = [weighted(digits, [1, 0, 1, 0, 1, 0, 1, 0, 1]), weighted(digits, [0, 1, 0, 1, 0, 1, 0, 1])]
  const tenth = (((odd * 7 - even) % 10) + 10) % 10
  return !digits.startsWith('0') && tenth === Number(digits[9]) && (odd + even + tenth) % 10 === Number(digits[10])
}

/** Russia: the control number of an insurance account. */
export const isSnils = (digits: string): boolean => {
  const rest = weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101
  return (rest === 100 ? 0 : rest) === Number(digits.slice(9))
}

/** Japan: modulus 11 over the first eleven digits. */
export const isMyNumber = (digits: string): boolean => {
  const rest = weighted(digits, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11
  return (rest <= 1 ? 0 : 11 - rest) === Number(digits[11])
}

/** Australia: modulus 11 of a tax file number. */
export const isTfn = (digits: string): boolean => weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0

/** Chile: modulus 11, with K for 10. */
export const isRut = (id: string): boolean => {
  const body = id.slice(0, -1).padStart(8, '0')
  const check = (11 - (weighted(body, [3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11
  return (check === 10 ? 'K' : String(check)) === id.slice(-1)
}

/** Singapore: the last letter. */
export const isNric = (id: string): boolean => {
  const first = id.charAt(0)
  const [letters, offset] =
    first === 'M' ? ['XWUTRQPNJLK', 3] : ['S', 'T'].includes(first) ? ['JZIHGFEDCBA', 0] : ['XWUTRQPNMLK', 0]
  const sum = weighted(id.slice(1), [2, 7, 6, 5, 4, 3, 2]) + offset + (first === 'T' || first === 'G' ? 4 : 0)
  const at = first === 'M' ? 10 - (sum % 11) : sum % 11
  return letters.charAt(at) === id.slice(-1)
}

/** United Kingdom: modulus 11 (NHS Data Dictionary, "NHS number"). */
export const isNhsNumber = (digits: string): boolean => {
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)
  return check !== 10 && (check === 11 ? 0 : check) === Number(digits[9])
}

/**
 * France: the key, which is 97 minus the number modulo 97; the letters of Corsica are replaced by digits (INSEE, "NIR").
 */
export const isSecuriteSociale = (id: string): boolean => {
  const digits = id.replace('2A', '19').replace('2B', '18')
  return digits.length === 15 && 97 - Number(BigInt(digits.slice(0, 13)) % 97n) === Number(digits.slice(13))
}
