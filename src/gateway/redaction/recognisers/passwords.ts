import { type Hit, hitsOf, valuesOf } from './recogniser.ts'

/** Words for a password. */
const list =
  'passw(?:or)?d|passwort|(?<!old)pwd(?!["\']?\\s{0,3}[:=]\\s{0,3}["\']?[/~])|kennwort|wachtwoord|contraseña|mot de passe|senha|lösenord|hasło|heslo|şifre|пароль|密码|密碼|パスワード|비밀번호|كلمة المرور|סיסמה'

/** What a text with one of these words contains; read first, since most texts have none. */
const part =
  /w(?:ord|ort|oord|d)["'\s]{0,3}(?:[:=]|is|lautet)|señ|mot de p|senha|ösenord|heslo|asło|ifre|[лЛ]ь|密[码碼]|パス|비밀|كلمة|סיס/i

/** `password=…`, as in connection strings and queries. */
const assigned = new RegExp(`(?:${list})=([^\\s"'&;,<>]{4,256})`, 'giu')

/**
 * A value with a digit, or with a sign between others: not a word that says something about a password. It is taken whole, since a
 * shorter beginning of a call would not be followed by its bracket.
 */
const plain = '[^\\s"\';,<>(){}[\\]`。、，；]'
const value = `(?=${plain}{0,63}\\d|${plain}{1,63}[!@#$%^*+]${plain})(?=(${plain}{4,256}))\\1(?![({[])`

/** `Passwort: …`, `my password is …`, `"password": "…"`. */
const stated = new RegExp(
  `(?:${list})["']?\\s{0,3}(?:[:：]|=>?|(?:is|ist|lautet|est|es|é|è|jest|is|är) |は|是|은|는)\\s{0,3}["'“«]?${value}`,
  'giu',
)

const pins = /(?<![\p{L}\p{N}])PIN(?:[- ]?[Cc]ode)?\s{0,2}(?:[:=：]|(?:is|ist|est|es) )\s{0,2}(\d{4,8})(?!\d)/gu
const basic = /(?<=(?<![\w-])[Bb]asic )[A-Za-z0-9+/]{8,}={0,2}/g
const cookies = /(?<=(?<!\w)(?:Set-)?Cookie: )[^\s=;"'`]{1,64}=(?:[^\s"'`]| (?! )){8,4096}/gi
const curlUsers = /(?<=curl [^\n]{0,200}(?:-u|--user)[ =])["']?[\w.@-]{1,64}:([^\s"']{3,128})/g

/** Passwords after a word that names them, and those of HTTP's own fields. */
export const passwordsIn = (text: string): readonly Hit[] => {
  const hits: Hit[] = []
  const add = (found: readonly Hit[]): void => void hits.push(...found)
  if (part.test(text)) {
    add(valuesOf(text, assigned))
    add(valuesOf(text, stated))
  }
  if (text.includes('PIN')) add(valuesOf(text, pins))
  if (text.includes('Basic ') || text.includes('basic '))
    add(hitsOf(text, basic, { type: 'secret', accepts: isUserAndPassword }))
  if (text.includes('Cookie: ') || text.includes('cookie: ')) add(hitsOf(text, cookies, { type: 'secret' }))
  if (text.includes('curl ')) add(valuesOf(text, curlUsers))
  return hits
}

const isUserAndPassword = (match: string): boolean => {
  const decoded = Buffer.from(match, 'base64').toString('latin1')
  return match.length % 4 === 0 && decoded.includes(':') && /^[\x20-\x7e]*$/.test(decoded)
}
