/** Maximum characters of a line of code that are examined. */
const max = 240

/** The left side of an assignment: only a name, with its declaration keywords. */
const assigned =
  /^\s*(?:(?:#|\/\/)\s{0,8})?(?:(?:const|let|var|final|String|public|private|static)\s{1,4}){0,3}(?:[A-Za-z_$][\w$]{0,40}\.){0,4}[\w$]*$/

const token = /\s+|[A-Za-z_]+\d{0,3}(?!\w)|\d{1,5}(?!\w)|"[^"]*"|'[^']*'|[.,=()[\]]|;\s*$|./gy

/** Strings that name a field of a secret, or a charset; any other string may be the secret itself. */
const naming =
  /^["'](?:[A-Za-z]{0,20}[_-]){0,3}(?:pass(?:word|code|phrase|wd)?|pwd|pin|otp|cvv|cvc|ssn)["']$|^["'](?:utf-?8|ascii|latin-?1)["']$/i

const name = /^[A-Za-z_]/

/**
 * Whether the value assigned by a line of code is read or computed instead of literal: `password =
 * request.form['password']`, `password = hash_password(password)`, `password = Column(String(120))`. Names, numbers and
 * strings that name a field are allowed; any other string, a comment, or adjacent words may be the secret itself. A
 * line without spaces around `=` is taken for a line of a configuration file.
 *
 * @param at position in the text of the word for the secret.
 */
export function isRead(text: string, at: number): boolean {
  const from = text.slice(Math.max(0, at - max), at)
  const begins = from.lastIndexOf('\n') + 1
  const line = text.slice(at, at + max).split('\n', 1)[0] ?? ''
  const sign = line.indexOf(' = ')
  if ((begins === 0 && at > max) || line.length === max || sign === -1) return false
  if (!assigned.test(from.slice(begins))) return false
  const tokens = (line.slice(sign + 3).match(token) ?? []).map((each) => each.trim()).filter((each) => each !== '')
  return isExpression(tokens.at(-1) === ';' ? tokens.slice(0, -1) : tokens)
}

function isExpression(tokens: readonly string[]): boolean {
  const opened: string[] = []
  let brackets = 0
  for (const [place, each] of tokens.entries()) {
    const before = tokens[place - 1] ?? ''
    if (each === '(' || each === '[') {
      if (!name.test(before) && before !== ']' && before !== ')') return false
      opened.push(each)
      brackets++
    } else if (each === ')' || each === ']') {
      if (opened.pop() !== (each === ')' ? '(' : '[')) return false
    } else if (!isOperand(each, { before, within: opened.length > 0 })) return false
  }
  return brackets > 0 && opened.length === 0
}

/** Whether a token is a valid operand: a name after a dot or an operator, or what only occurs within brackets. */
function isOperand(each: string, { before, within }: { readonly before: string; readonly within: boolean }): boolean {
  const follows = ['', '.', ',', '=', '(', '['].includes(before)
  if (name.test(each)) return follows
  if (each === '.') return name.test(before) || before === ')' || before === ']'
  if (!within) return false
  if (each === ',' || each === '=') return !['', '.', ',', '=', '(', '['].includes(before)
  return follows && before !== '.' && (/^\d/.test(each) || naming.test(each))
}
