import { readFileSync } from 'node:fs'
import { readDocument } from '#src/parsing/documents/read-document.ts'
import type { Collection, Question, Scope, Text } from './collection.ts'
import { filesBelow } from './files.ts'
import { fields, text } from './schema.ts'

/** A text of a collection, which is a source of its own. */
interface Abstract {
  readonly id: string
  readonly title: string
  readonly text: string
}

interface Judged {
  readonly abstracts: readonly Abstract[]
  readonly questions: readonly Pick<Question, 'text' | 'relevant'>[]
}

type Grades = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Endings of the files of collections in the format of the SMART system: texts, questions and judgements. */
const smartFiles: Readonly<Record<string, readonly [texts: string, questions: string, judgements: string]>> = {
  cranfield: ['cran.all.1400', 'cran.qry', 'qrel'],
  cisi: ['CISI.ALL', 'CISI.QRY', 'CISI.REL'],
  med: ['MED.ALL', 'MED.QRY', 'MED.REL'],
  cacm: ['cacm.all', 'query.text', 'qrels.text'],
}

const names: Readonly<Record<string, string>> = {
  ...{ cranfield: 'Cranfield', cisi: 'CISI', med: 'MED', cacm: 'CACM', scifact: 'SciFact', nfcorpus: 'NFCorpus' },
}

/** Names of the folders of abstracts. */
export const abstractSets: readonly string[] = Object.keys(names)

/**
 * Collections of abstracts with questions and judgements: Cranfield (aerodynamics), CISI (information science), MED
 * (medicine) and CACM (computing) in the format of the SMART system, SciFact and NFCorpus in that of BEIR
 * (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`). Each text is split as the source of a knowledge base is, and hits
 * are counted by source. Each collection is read twice, with and without titles of its sources.
 */
export async function readAbstracts(name: string, folder: string): Promise<readonly Collection[]> {
  const judged = name in smartFiles ? smartIn(folder, name) : beirIn(folder)
  if (judged === null) return []
  const texts: Text[] = []
  for (const each of judged.abstracts) texts.push(...(await textsOf(each)))
  const questions = judged.questions.map((question) => ({ ...question, sort: 'answerable', now: 0 }))
  const scope: Scope = { name: 'all', texts, questions, partOf: sourceOf }
  const titled = { ...scope, titles: new Map(judged.abstracts.map(({ id, title }) => [id, title])) }
  const own = { name: names[name] ?? name, profile: 'document' as const }
  return [
    { ...own, scopes: [scope] },
    { ...own, name: `${own.name} with titles`, scopes: [titled] },
  ]
}

const sourceOf = (id: string): string => id.slice(0, id.lastIndexOf('#'))

async function textsOf({ id, title, text: whole }: Abstract): Promise<readonly Text[]> {
  const bytes = Buffer.from([title, whole].filter(Boolean).join('\n\n'))
  const read = await readDocument({ bytes, mimeType: 'text/plain' })
  return read.chunks.map(({ start, end }, order) => {
    return { id: `${id}#${order}`, text: read.text.slice(start, end), group: id, order, at: 0 }
  })
}

function smartIn(folder: string, name: string): Judged | null {
  const [texts, queries, judgements] = (smartFiles[name] ?? []).map((ending) => filesBelow(folder, ending)[0])
  if (texts === undefined || queries === undefined || judgements === undefined) return null
  const grades = smartGrades(readFileSync(judgements, 'utf8'), name)
  return {
    abstracts: recordsOf(texts).map(({ I: id = '', T: title = '', W: whole = '' }) => ({
      ...{ id: String(Number(id)), title, text: whole },
    })),
    questions: recordsOf(queries).map(({ I: id = '', W: question = '' }, place) => ({
      text: question,
      // Cranfield's judgements number its questions by their place
      relevant: grades.get(name === 'cranfield' ? String(place + 1) : String(Number(id))) ?? new Map(),
    })),
  }
}

/** Parses records: `.I 1`, followed by sections of lines after `.T`, `.W` … */
function recordsOf(path: string): readonly Readonly<Record<string, string>>[] {
  return readFileSync(path, 'utf8')
    .split(/^\.I /m)
    .slice(1)
    .map((record) => {
      const [id = '', ...sections] = record.split(/^\.([A-Z])\s*$/m)
      const named = sections.flatMap((section, at) =>
        at % 2 === 0 ? [[section, (sections[at + 1] ?? '').trim()]] : [],
      )
      return { I: id.trim(), ...Object.fromEntries(named) }
    })
}

/**
 * Parses lines of query, document and, for Cranfield, a code: 1 is a complete answer and 4 of minimum interest, so that
 * codes cannot serve as gains, and -1 is skipped, as in published figures. Each relevant text has the same gain.
 */
function smartGrades(lines: string, name: string): Grades {
  const grades = new Map<string, Map<string, number>>()
  for (const line of lines.trim().split('\n')) {
    const words = line.trim().split(/\s+/)
    const [query = '', document = ''] = words
    if (name !== 'cranfield' || Number(words.at(-1)) >= 1)
      note(grades, [String(Number(query)), String(Number(document))], 1)
  }
  return grades
}

function beirIn(folder: string): Judged | null {
  const [corpus, queries, judgements] = ['corpus.jsonl', 'queries.jsonl', 'qrels/test.tsv'].map(
    (ending) => filesBelow(folder, ending)[0],
  )
  if (corpus === undefined || queries === undefined || judgements === undefined) return null
  const grades = new Map<string, Map<string, number>>()
  for (const line of readFileSync(judgements, 'utf8').trim().split('\n').slice(1)) {
    const [query = '', document = '', grade = ''] = line.trim().split('\t')
    if (Number(grade) > 0) note(grades, [query, document], Number(grade))
  }
  return {
    abstracts: recordsIn(corpus).map(({ _id, title, text: whole }) => {
      return { id: text(_id), title: text(title), text: text(whole) }
    }),
    questions: recordsIn(queries).flatMap(({ _id, text: question }) => {
      const relevant = grades.get(text(_id))
      return relevant === undefined ? [] : [{ text: text(question), relevant }]
    }),
  }
}

const recordsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => fields(JSON.parse(line)))

function note(
  grades: Map<string, Map<string, number>>,
  [query, document]: readonly [string, string],
  grade: number,
): void {
  grades.set(query, (grades.get(query) ?? new Map<string, number>()).set(document, grade))
}
