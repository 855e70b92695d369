import { type Finding, lineAt, type SourceFile } from './source-files.ts'

/** Words that say in a private way what the field has a word for (CONTRIBUTING.md, "Words"). */
const privateWords = new Set(
  'tell tells told telling ask asks asked asking nobody somebody anybody whoever wish wishes wished taker uncoded'.split(
    ' ',
  ),
)

/** Names that are such words, as they stand. */
const privateNames = new Set(['Order', 'Posts', 'Going', 'Standing', 'Seeing'])

/** Fields of the wire, which stay. */
const wireNames = new Set(['asked_model'])

/**
 * Fields that are stored, or travel between nodes of two releases, by where their code is: another name would need a
 * migration. Comments there use other words.
 */
const keptNames: Readonly<Record<string, ReadonlySet<string>>> = {
  'src/machines/run/': new Set(['asked', 'told']),
  'src/actors/runs/run-conversation.ts': new Set(['told']),
  'src/gateway/ledger/': new Set(['asked']),
  'src/transport/peers/': new Set(['ask', 'told']),
  // a word that people write
  'src/retrieval/analysis/stance.ts': new Set(['ask']),
  'test/machines/run/': new Set(['told']),
  'test/transport/peers/': new Set(['told']),
  // the name of a tool in recorded histories
  'scripts/histories/scenarios.ts': new Set(['ask']),
}

const isKept = (path: string, name: string): boolean =>
  Object.entries(keptNames).some(([prefix, names]) => path.startsWith(prefix) && names.has(name))

/** A rule on texts: each finding is one place. */
type TextRule = (file: SourceFile) => readonly Finding[]

/** Private words in identifiers and comments of code, and in the prose of pages. Texts in quotes and code in pages are not looked at. */
export const privateWordFindings: TextRule = ({ path, text }) => {
  const read = path.endsWith('.md') ? prose(text) : withoutTexts(text)
  const code = path.endsWith('.md') ? blank(text) : withoutComments(read)
  const names = found({ path, text: code }, /[A-Za-z]+/g, (name) => privateNames.has(name))
  const isWrong = (name: string, at: number): boolean =>
    isPrivate(name) && !(code.startsWith(name, at) && isKept(path, name))
  return [...found({ path, text: read }, /[A-Za-z_]+/g, isWrong), ...names]
}

const isPrivate = (name: string): boolean =>
  !wireNames.has(name) && partsOf(name).some((part) => privateWords.has(part.toLowerCase()))

/** `askModel` and `ASK_MODEL` are ask and model. */
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
      message: `'${word}': use the field's word (CONTRIBUTING.md, "Words")`,
    }))

/** Pages that only their writer has. */
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

/** Comments that say of a list of parts that it is one. */
export const emptyCommentFindings: TextRule = ({ path, text }) =>
  [...text.matchAll(sayingNothing)].map(({ index }) => ({
    path,
    line: lineAt(text, index),
    message: 'the comment says nothing that the type does not: delete it, or say why',
  }))

/** Code with its texts in quotes blanked, places kept. */
const withoutTexts = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, (part) =>
    part.startsWith('/') ? part : blank(part),
  )

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank)

/** Pages without their code. */
const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`|\]\([^)]*\)/gm, blank)

const blank = (part: string): string => part.replaceAll(/[^\n]/g, ' ')
