import type { Statement } from './statements.ts'
import type { Token } from './tokens.ts'

const reaching: ReadonlySet<string> = new Set(
  'reach contact text write mail email e-mail call phone ring message number'.split(' '),
)

/** Reads the e-mail address or phone number at which people say they can be reached. */
export const contactsIn = (clause: readonly Token[]): readonly Statement[] => {
  const address = clause.find(({ text }) => isAddress(text))
  if (address !== undefined) return [{ relation: 'email', object: address.text, single: true, ended: false }]
  if (!clause.some(({ low }) => reaching.has(low))) return []
  const number = clause
    .map(({ text }) => text)
    .filter((text) => /^[+(]?\d[\d()./-]*$/.test(text))
    .join(' ')
  return number.replaceAll(/\D/g, '').length < 5
    ? []
    : [{ relation: 'phone', object: number, single: true, ended: false }]
}

const isAddress = (text: string): boolean => {
  const at = text.indexOf('@')
  return at > 0 && text.indexOf('.', at) > at + 1 && !text.endsWith('.')
}
