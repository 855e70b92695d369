import { readFileSync } from 'node:fs'
import type { Collection, Question, Text } from './collection.ts'
import { filesBelow } from './files.ts'

/** Cranfield: 1,400 abstracts on aerodynamics, questions of engineers, and graded answers. */
export function readCranfield(folder: string): Collection | null {
  const [documents, queries] = ['cran.all.1400', 'cran.qry'].map((name) => filesBelow(folder, name)[0])
  const judgements = filesBelow(folder, 'qrel')[0]
  if (documents === undefined || queries === undefined || judgements === undefined) return null
  const grades = gradesOf(readFileSync(judgements, 'utf8'))
  const questions = recordsOf(queries).map(({ W: text = '' }, place): Question => {
    return { text, relevant: grades.get(String(place + 1)) ?? new Map(), sort: 'answerable', now: 0 }
  })
  return {
    name: 'Cranfield',
    profile: 'document',
    scopes: [{ name: 'all', texts: recordsOf(documents).map(textOf), questions }],
  }
}

type Record_ = Readonly<Record<string, string>>

const textOf = ({ I: id = '', T: heading = '', W: text = '' }: Record_): Text => {
  return { id: String(Number(id)), text, heading, group: id, order: 0, at: 0 }
}

/** Parses records: `.I 1`, followed by sections of lines after `.T`, `.W` … */
function recordsOf(path: string): readonly Record_[] {
  return readFileSync(path, 'utf8')
    .split(/^\.I /m)
    .slice(1)
    .map((record) => {
      const [id = '', ...sections] = record.split(/^\.([TABWX])\s*$/m)
      const named = sections.flatMap((section, at) =>
        at % 2 === 0 ? [[section, (sections[at + 1] ?? '').trim()]] : [],
      )
      return { I: id.trim(), ...Object.fromEntries(named) }
    })
}

/**
 * Parses lines of query, document and code; queries are numbered from 1. Code 1 is a complete answer and code 4 of
 * minimum interest, so that codes cannot serve as gains: each relevant document has the same gain. Code -1 is skipped,
 * as in the published figures that ours are compared with.
 */
function gradesOf(text: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const grades = new Map<string, Map<string, number>>()
  for (const line of text.trim().split('\n')) {
    const [query = '', ...rest] = line.trim().split(/\s+/)
    const [document = '', grade = ''] = rest.slice(-2)
    if (Number(grade) < 1) continue
    grades.set(query, (grades.get(query) ?? new Map<string, number>()).set(document, 1))
  }
  return grades
}
