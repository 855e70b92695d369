const articles = /^(?:the|a|an|my|our|his|her|their|your) /
const marks = /\p{M}+/gu
const others = /[^\p{L}\p{N}@+]+/gu

/** Normalises a name for comparison: without case, accents, articles and punctuation. */
export const normalisedName = (name: string): string => {
  const plain = name.normalize('NFKD').replace(marks, '').toLowerCase().replaceAll('’', "'").replace(others, ' ').trim()
  return plain.replace(articles, '')
}

/** Whether two values are equal: the same name, or one that adds a qualifier after a comma ("Berlin, Germany"). */
export const sameValue = (one: string, other: string): boolean => {
  if (normalisedName(one) === normalisedName(other)) return true
  return normalisedName(headOf(one)) === normalisedName(headOf(other)) && one.includes(',') !== other.includes(',')
}

const headOf = (name: string): string => name.split(',')[0] ?? name
