import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type DocumentRead, readDocument } from '#src/parsing/documents/read-document.ts'
import { type Collection, type Question, relevantOf, type Text } from './collection.ts'
import { filesBelow } from './files.ts'
import { fields, items, number, text } from './schema.ts'

/**
 * FinanceBench: 150 questions of analysts about 84 annual and quarterly reports in PDF, with the pages that answer
 * them. Questions whose report is not below the folder are left out. Hits are counted by page, each page once.
 */
export async function readFinanceBench(folder: string): Promise<Collection | null> {
  const [file] = filesBelow(folder, 'financebench_open_source.jsonl')
  if (file === undefined) return null
  const records = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => fields(JSON.parse(line)))
  const wanted = new Set(records.map((record) => text(record.doc_name)))
  const texts: Text[] = []
  const titles = new Map<string, string>()
  for (const path of filesBelow(folder, '.pdf')) {
    const name = basename(path, '.pdf')
    if (!wanted.has(name)) continue
    const read = await readDocument({ bytes: readFileSync(path), mimeType: 'application/pdf' })
    titles.set(name, [read.title ?? '', name].join('\n'))
    texts.push(...textsOf(name, read))
  }
  const questions = records.filter((record) => titles.has(text(record.doc_name))).map(questionOf)
  return {
    name: 'FinanceBench',
    profile: 'document',
    scopes: [{ name: 'all', texts, questions, titles, partOf: pageOf }],
  }
}

const textsOf = (name: string, { text: whole, chunks }: DocumentRead): readonly Text[] =>
  chunks.map(({ start, end, page, heading }, order) => ({
    ...{ id: `${name}#${page}#${order}`, text: whole.slice(start, end), group: name, order, page, at: 0 },
    ...(heading !== null && { heading }),
  }))

const pageOf = (id: string): string => id.replace(/#\d+$/, '')

/** The data set numbers pages from 0. */
const questionOf = (record: ReturnType<typeof fields>): Question => ({
  text: text(record.question),
  relevant: relevantOf(
    items(record.evidence).map((each) => `${text(record.doc_name)}#${number(fields(each).evidence_page_num) + 1}`),
  ),
  sort: 'answerable',
  now: 0,
})
