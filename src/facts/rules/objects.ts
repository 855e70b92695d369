import { isProper, type Token, textOfTokens } from './tokens.ts'

/** Words that end an object. */
const ends: ReadonlySet<string> = new Set(
  'because since when where which who whom that after before although though unless while if as with for but than so instead without during via thanks due until together alongside near'.split(
    ' ',
  ),
)

const articles: ReadonlySet<string> = new Set('a an the my our some to'.split(' '))
const lastWords: ReadonlySet<string> = new Set(
  'now too anymore more longer again well lot much either here there though together alone and , : in at on best most'.split(
    ' ',
  ),
)

const maxWords = 10

/** Returns a slot as one value, without explanations, articles and trailing filler words. */
const valueOfSlot = (slot: readonly Token[]): string => {
  const cut = slot.findIndex(({ low }, at) => at > 0 && ends.has(low))
  return textOfTokens(trimmed(cut < 0 ? slot : slot.slice(0, cut)).slice(0, maxWords))
}

/**
 * Returns the value of a single-valued relation: the first item of a list, except that a name after a comma belongs to
 * it ("Berlin, Germany").
 */
export const singleValueOf = (slot: readonly Token[]): string => {
  const comma = slot.findIndex(({ low }) => low === ',')
  const behind = slot[comma + 1]
  const isPart =
    comma > 0 && behind !== undefined && isProper(behind) && !slot.slice(comma + 1).some(({ low }) => low === 'not')
  return valueOfSlot(comma < 0 || isPart ? slot : slot.slice(0, comma))
}

/** Returns the values of a list: "tea, green apples and jazz". */
export const valuesOf = (slot: readonly Token[]): readonly string[] => {
  const values: string[] = []
  let open: Token[] = []
  const end = (): void => {
    const value = valueOfSlot(open)
    if (value !== '') values.push(value)
    open = []
  }
  for (const token of slot) {
    if ([',', 'and', 'or', 'plus'].includes(token.low) || token.low === '&') end()
    else if (!(['both', 'as', 'well', 'also'].includes(token.low) && open.length === 0)) open.push(token)
  }
  end()
  return values.slice(0, 12)
}

const trimmed = (tokens: readonly Token[]): readonly Token[] => {
  let from = 0
  let to = tokens.length
  while (from < to - 1 && articles.has(tokens[from]?.low ?? '') && !isTitle(tokens.slice(from))) from++
  while (to > from && lastWords.has(tokens[to - 1]?.low ?? '')) to--
  return tokens.slice(from, to)
}

/** Whether the article is part of a name, as in "The Hague". */
const isTitle = ([article, name]: readonly Token[]): boolean =>
  article !== undefined && article.text === 'The' && name !== undefined && isProper(name)
