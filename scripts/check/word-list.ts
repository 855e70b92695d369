import { type Finding, lineAt, type SourceFile } from './source-files.ts'

/** Private words for which the field has standard ones (CONTRIBUTING.md, "Words"). */
const privateWords = new Set(
  'tell tells told telling ask asks asked asking nobody somebody anybody whoever wish wishes wished taker uncoded'.split(
    ' ',
  ),
)

/** Words that names do not contain in the product, although prose may use them (CONTRIBUTING.md, "Words"). */
const nameWords = new Set(
  'room rooms seat seats seated apart house houses look looks looked said deed deeds hands most least stance stances'.split(
    ' ',
  ),
)

/** Fields of that kind that are stored, or sent between nodes of two releases; and bounds that a measurement declares. */
const acceptedNames = new Set(['targets_apart', 'atMost', 'atLeast', 'atMostOnce', 'isAtMost', 'isAtLeast'])

/** Names that are private words in exactly this spelling. */
const privateNames = new Set(['Order', 'Posts', 'Going', 'Standing', 'Seeing'])

/** Field names of the wire protocol, which stay. */
const wireNames = new Set(['asked_model'])

/**
 * Names of fields that are stored, or sent between nodes of two releases, by the path of their code: renaming them
 * would need a migration. Comments there use other words.
 */
const keptNames: Readonly<Record<string, ReadonlySet<string>>> = {
  'src/machines/run/': new Set(['asked', 'told']),
  'src/actors/runs/run-conversation.ts': new Set(['told']),
  'src/gateway/ledger/': new Set(['asked']),
  'src/transport/peers/': new Set(['ask', 'told', 'said']),
  'src/actors/runtime/messages/': new Set(['said']),
  'src/actors/runtime/cluster/': new Set(['said']),
  // a word in texts that people write
  'src/retrieval/analysis/statement-kind.ts': new Set(['ask']),
  'test/machines/run/': new Set(['told']),
  'test/transport/peers/': new Set(['told']),
  // the tool's name in recorded histories
  'scripts/histories/scenarios.ts': new Set(['ask']),
}

const isKept = (path: string, name: string): boolean =>
  Object.entries(keptNames).some(([prefix, names]) => path.startsWith(prefix) && names.has(name))

/** A rule for texts: returns one finding per violation. */
type TextRule = (file: SourceFile) => readonly Finding[]

/**
 * Finds private words in identifiers and comments of code, and in the prose of pages. String literals in code and code
 * in pages are ignored.
 */
export const privateWordFindings: TextRule = ({ path, text }) => {
  const read = path.endsWith('.md') ? prose(text) : withoutTexts(text)
  const code = path.endsWith('.md') ? blank(text) : withoutComments(read)
  const names = found({ path, text: code }, /[A-Za-z]+/g, (name) => privateNames.has(name))
  const isWrong = (name: string, at: number): boolean =>
    isPrivate(name) && !(code.startsWith(name, at) && isKept(path, name))
  return [...found({ path, text: read }, /[A-Za-z_]+/g, isWrong), ...names]
}

const isProduct = (path: string): boolean => /^(src|specs|packages|console)\//.test(path)

/**
 * Finds words for which the field has others in the names of the product's code and files. In the console, whose pages
 * are texts in code, a name of one word is not one.
 */
export const nameWordFindings: TextRule = ({ path, text }) => {
  if (!isProduct(path) || path.endsWith('.md')) return []
  const has = (name: string): boolean =>
    !(acceptedNames.has(name) || (path.startsWith('console/') && partsOf(name).length === 1)) &&
    partsOf(name).some((part) => nameWords.has(part.toLowerCase()))
  const file = path.split(/[/.-]/).some((part) => nameWords.has(part)) ? [{ path, line: 1, message: advice(path) }] : []
  const code = withoutComments(withoutTexts(text)).replaceAll(
    /\/(?:\\.|\[[^\]\n]*\]|[^/\n\\[])+\/[dgimsuvy]*(?=[,;)\].\s])/g,
    blank,
  )
  return [...found({ path, text: code }, /[A-Za-z_]+/g, (name) => has(name) && !isKept(path, name)), ...file]
}

const isPrivate = (name: string): boolean =>
  !wireNames.has(name) && partsOf(name).some((part) => privateWords.has(part.toLowerCase()))

/** Splits a name into its words: `askModel` and `ASK_MODEL` are ask and model. */
const partsOf = (name: string): readonly string[] => name.split(/_|(?<=[a-z])(?=[A-Z])/)

const found = (
  { path, text }: SourceFile,
  pattern: RegExp,
  isBad: (word: string, at: number) => boolean,
): readonly Finding[] =>
  [...text.matchAll(pattern)]
    .filter(({ 0: word, index }) => isBad(word, index))
    .map(({ 0: word, index }) => ({
      path,
      line: lineAt(text, index),
      message: advice(word),
    }))

const advice = (word: string): string => `'${word}': use the field's word (CONTRIBUTING.md, "Words")`

/** Pages that are not part of the repository. */
const foreign =
  /\b(?:interface(?:[- ]additions)?|DESIGN|HOUSE|STYLE|FINDINGS|PICKS) "|\b(?:DESIGN|HOUSE|STYLE|FINDINGS|PICKS|interface-additions)(?:\.md\b|, section)/g

/** Citations of pages that the repository does not contain. */
export const citationFindings: TextRule = ({ path, text }) =>
  [...text.matchAll(foreign)].map(({ index }) => ({
    path,
    line: lineAt(text, index),
    message:
      'the repository does not contain this page: cite an operation id, an error code or a page of specs/decisions',
  }))

const sayingNothing =
  /\/\*\* What [^*]{1,80} (?:stands? on|needs?|(?:is|are) made (?:of|from|with)|goes by|may do without)\. \*\//g

/** Finds comments that only say that a list of dependencies is one. */
export const emptyCommentFindings: TextRule = ({ path, text }) =>
  [...text.matchAll(sayingNothing)].map(({ index }) => ({
    path,
    line: lineAt(text, index),
    message: 'the comment says nothing that the type does not: delete it, or say why',
  }))

/** Blanks the string literals of code; positions stay the same. */
const withoutTexts = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, (part) =>
    part.startsWith('/') ? part : blank(part),
  )

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank)

/** Blanks the code in a page. */
const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`|\]\([^)]*\)/gm, blank)

const blank = (part: string): string => part.replaceAll(/[^\n]/g, ' ')
