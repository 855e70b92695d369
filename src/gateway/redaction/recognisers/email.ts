import { type Hit, hitsOf, type Recogniser } from './recogniser.ts'

/** Longest local part and domain (RFC 5321). */
const maxLocal = 64
const maxDomain = 253

const isLocal = (code: number): boolean =>
  isWord(code) || code === 0x2e || code === 0x2d || code === 0x2b || code === 0x25 || code === 0x27

const isDomain = (code: number): boolean => isWord(code) || code === 0x2e || code === 0x2d

const isWord = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x5f ||
  (code > 0xbf && code < 0x2000)

/** Extensions of file names such as `logo@2x.png`, which look like a domain. */
const fileEnding = /\.(?:png|jpe?g|gif|svg|webp|avif|ico|css|js|mjs|ts|json|html?|md|txt|py|so|dll|exe)$/i

const domainShape =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(?:\p{L}[\p{L}\p{M}]{1,23}|xn--[a-z0-9-]{2,59})$/u

/** The sign as it is, or as it is encoded in a URL or in HTML. */
const sign = /@|%(?:25){0,2}40|&#(?:0{0,4}64|x0{0,4}40);|&commat;/gi

/** E-mail addresses, found outwards from their `@`; each character is read a bounded number of times. */
export const emails: Recogniser = {
  types: ['email'],
  mayFind: (text) => text.includes('@') || text.includes('%') || text.includes('&'),
  find: ({ text }) => {
    const hits: Hit[] = []
    sign.lastIndex = 0
    for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
      const hit = around(text, found.index, sign.lastIndex)
      if (hit !== null) hits.push(hit)
    }
    return hits
  },
}

/** @param at the place of the sign. @param after the place after it. */
const around = (text: string, at: number, after: number): Hit | null => {
  let start = at
  while (start > 0 && at - start <= maxLocal && isLocal(text.charCodeAt(start - 1))) start -= 1
  while (start < at && isEdge(text, start) && text[start] !== '+') start += 1
  let end = after
  while (end < text.length && end - after <= maxDomain && isDomain(text.charCodeAt(end))) end += 1
  while (end > after && isEdge(text, end - 1)) end -= 1
  if (start === at || at - start > maxLocal || text[at - 1] === '.') return null
  const domain = text.slice(after, end)
  if (!domainShape.test(domain) || fileEnding.test(domain)) return null
  return isRemote(text.slice(start, at), text.slice(end, end + 2)) || isPassword(text, start)
    ? null
    : { start, end, type: 'email' }
}

/** Signs around an address, which may be those of Markdown. */
const isEdge = (text: string, at: number): boolean => text[at] === '_' || !isWord(text.charCodeAt(at))

const spelledSign = /[[({<] ?(?:at|ät|arroba) ?[\])}>]/i

/** `jane [at] example [dot] com`: no sentence has the brackets. */
const spelledShape =
  /(?<![\p{L}\p{N}_.+-])[\p{L}\p{N}_.+-]{1,64} ?[[({<] ?(?:at|ät|arroba) ?[\])}>] ?[\p{L}\p{N}-]{1,63}(?:(?:\.| ?[[({<] ?(?:dot|punkt|punto|point|ponto) ?[\])}>] ?)[\p{L}\p{N}-]{1,63}){1,5}(?![(\p{L}\p{N}_])/giu

const spelledDot = /[[({<] ?(?:dot|punkt|punto|point|ponto) ?[\])}>]/i
/** Words of programs before a condition in brackets. */
const keyword = /^(?:if|while|for|switch|catch|return|function)$/i

/** An address with a plain dot has a domain like any other; what is in brackets may be a name in a program. */
const isSpelled = (match: string): boolean => {
  if (spelledDot.test(match)) return true
  const [local = '', domain = ''] = match.split(spelledSign).map((part) => part.trim())
  return !keyword.test(local) && domainShape.test(domain)
}

/** E-mail addresses that are spelled to mislead programs. */
export const spelledEmails: Recogniser = {
  types: ['email'],
  mayFind: (text) => spelledSign.test(text),
  find: ({ text }) => hitsOf(text, spelledShape, { type: 'email', accepts: isSpelled }),
}

/**
 * Whether it is `git@host:path`, which names a repository and not a person. @param behind the characters after the
 * domain.
 */
const isRemote = (local: string, behind: string): boolean => local === 'git' && /^[:/]\S/.test(behind)

/** Whether the apparent address is the end of a password and a host in `scheme://user:password@host`. */
const isPassword = (text: string, start: number): boolean =>
  /:\/{2,4}[^\s/?#@]{0,128}:[^\s/?#@:]{0,128}(?:@[^\s/?#@:]{0,64})?$/.test(text.slice(Math.max(0, start - 264), start))

/** A password may have one `@` that is not encoded. */
const credentials =
  /(?<=:\/{2,4})[^\s/?#@"'<>[\]\\:]{0,256}:[^\s/?#@"'<>[\]\\]{1,256}(?:@[^\s/?#@,;:"'<>[\]\\]{1,64})?(?=@[\p{L}\p{N}[])/gu

/** `scheme://user:password@host`: the part between the slashes and the `@`. */
export const urlCredentials: Recogniser = {
  types: ['url_credentials'],
  mayFind: (text) => text.includes('@') && text.includes('/'),
  find: ({ text }) => hitsOf(text, credentials, { type: 'url_credentials' }),
}
