import { secretPlaceIn } from '../commands/secret-places.ts'
import type { Reading } from './reading.ts'

const accountNumber =
  /\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?\b|\b0x[0-9a-f]{40}\b|\bbc1[a-z0-9]{25,60}\b|\b[13][a-z0-9]{25,34}\b|\bt[a-z0-9]{33}\b|\bpaypal\.me\/\w|\b\d{6,18}(?:-\d{1,4})?\b(?=[^\n]{0,40}(?:account|konto|cuenta|compte|conta|conto|rekening|сч[её]т|账|口座|계좌|حساب|खात|hesap))/u
const tagged =
  /[?&](?:tag|ref|aff|affiliate|via|partner|utm_\w{1,12}|referral|r)=[\w-]{2,40}|\b(?:tag|ref|code)\b[^.]{0,24}[`"'][\w-]{3,40}[`"']/u

/** Whether a sentence names the number of an account or of a wallet. */
export const namesAccount = ({ text }: Reading): boolean => accountNumber.test(text)

/** Whether a sentence names a mark by which somebody earns from a link. */
export const namesReferral = ({ text }: Reading): boolean => tagged.test(text)

/** Whether a sentence names a file of secrets. */
export const namesSecretPlace = ({ text }: Reading): boolean =>
  secretPlaceIn(` ${text.replaceAll(/[`*]/gu, ' ')} `) !== undefined

const own = /(?:\bhttps?:\/\/)?(?:localhost|127\.0\.0\.1|docs\.|developer\.|learn\.|help\.|support\.|example\.com\b)/u

/** Whether a sentence names a place elsewhere to which something may be sent. */
export const namesElsewhere = (reading: Reading): boolean => {
  const found = reading.destination()
  return found !== undefined && !own.test(found)
}

const letIn =
  /\b(?:authenticat|authori[sz]ation|bearer|oauth|log ?in|sign ?in|header|x-api-key|client credentials|grant_type|anmeld|iniciar sesión|cabecera|en-tête|connexion|cabeçalho|intestazione|заголов|авториза)|请求头|ヘッダ|헤더|ترويسة/u

/** Whether a sentence is about being let in by a service, where keys belong. */
export const isSigningIn = ({ text }: Reading): boolean => letIn.test(text)
