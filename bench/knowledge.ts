import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../scripts/services/server.ts'
import { docxFile } from '../test/support/files/docx-file.ts'
import { pdfFile } from '../test/support/files/pdf-file.ts'
import { isForBeingWhole } from './extent.ts'
import { filesBelow } from './recall/files.ts'
import type { Row } from './row.ts'
import { benchBaseIndex } from './web/base-index.ts'

interface Paragraph {
  readonly context: string
  readonly qas: readonly { readonly question: string; readonly answers: readonly { readonly text: string }[] }[]
}

interface Article {
  readonly title: string
  readonly paragraphs: readonly Paragraph[]
}

interface Hit {
  readonly content: string
  readonly source_id: string
  readonly citation: { readonly page?: number; readonly start: number; readonly end: number }
}

const lineLength = 95
const paragraphsAPage = 2
const topK = 5

const latin = (text: string): string => text.replace(/[^\u0020-\u007e\u00a0-\u00ff]/g, '?')

const linesOf = (text: string): readonly string[] => {
  const lines: string[] = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length < lineLength) lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const pagesOf = ({ paragraphs }: Article): readonly (readonly string[])[] => {
  const pages: string[][] = []
  for (const [index, { context }] of paragraphs.entries()) {
    if (index % paragraphsAPage === 0) pages.push([])
    pages.at(-1)?.push(...linesOf(latin(context)), '', '')
  }
  return pages
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const contexts = ({ paragraphs }: Article): readonly string[] => paragraphs.map(({ context }) => context)

const formats: Readonly<Record<string, (article: Article) => Uint8Array | string>> = {
  text: (article) => contexts(article).join('\n\n'),
  md: (article) => `# ${article.title}\n\n${contexts(article).join('\n\n')}`,
  html: (article) =>
    `<html><head><title>${escaped(article.title)}</title></head><body>${contexts(article)
      .map((text) => `<p>${escaped(text)}</p>`)
      .join('')}</body></html>`,
  pdf: (article) => pdfFile(pagesOf(article)),
  docx: (article) => docxFile([`# ${article.title}`, ...contexts(article)]),
}

const endings: Readonly<Record<string, string>> = { text: 'txt', md: 'md', html: 'html', pdf: 'pdf', docx: 'docx' }

/** Returns XQuAD's English articles below the folder (CC BY-SA 4.0, never shipped), else a few generated ones. */
const articlesIn = (folder: string | null): readonly Article[] => {
  const [file] = folder === null ? [] : filesBelow(join(folder, 'xquad'), 'xquad.en.json')
  return file === undefined ? madeArticles() : JSON.parse(readFileSync(file, 'utf8')).data
}

const subjects = 'otters owls lanterns cellos harbours tunnels meadows engines violets saffron'.split(' ')

/** Generates articles in which each paragraph has a fact that no other paragraph has. */
const madeArticles = (): readonly Article[] =>
  subjects.map((title, article) => ({
    title,
    paragraphs: Array.from({ length: 6 }, (_, n) => {
      const number = String(1000 + article * 100 + n)
      const place = `${subjects[(article + n + 1) % subjects.length]} of district ${n}`
      const context = `Much is known about ${title}. Beside the ${place} there were ${number} ${title} in that year. They were counted by hand.`
      const question = `How many ${title} were there beside the ${place}?`
      return { context, qas: [{ question, answers: [{ text: number }] }] }
    }),
  }))

const measure = async (
  format: string,
  articles: readonly Article[],
  api: (path: string, init?: RequestInit) => Promise<Response>,
): Promise<readonly Row[]> => {
  const json = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const base = Object(await (await api('/v1/knowledge-bases', json({ name: format }))).json()).id
  const path = `/v1/knowledge-bases/${base}`
  const sources: string[] = []
  const texts = new Map<string, string>()
  for (const article of articles) {
    const form = new FormData()
    form.set('file', new Blob([Buffer.from(formats[format]?.(article) ?? '')]), `article.${endings[format]}`)
    const source = Object(await (await api(`${path}/sources`, { method: 'POST', body: form })).json())
    if (source.status !== 'ready') throw new Error(JSON.stringify(source))
    sources.push(source.id)
    texts.set(source.id, await (await api(`${path}/sources/${source.id}/text`)).text())
  }
  const sums = { questions: 0, recall: 0, gain: 0, pages: 0, offsets: 0, hits: 0, ms: 0, longest: 0 }
  for (const [number, article] of articles.entries()) {
    for (const { qas } of article.paragraphs) {
      for (const { question, answers } of qas) {
        const began = performance.now()
        const answer = await api(`${path}/search`, json({ query: question, top_k: topK }))
        const hits: readonly Hit[] = Object(await answer.json()).data
        sums.ms += performance.now() - began
        const wanted = (format === 'pdf' ? latin(answers[0]?.text ?? '') : (answers[0]?.text ?? '')).replace(
          /\s+/g,
          ' ',
        )
        const rank = hits.findIndex(
          (hit) => hit.source_id === sources[number] && hit.content.replace(/\s+/g, ' ').includes(wanted),
        )
        sums.questions += 1
        for (const { content, citation, source_id } of hits) {
          sums.hits += 1
          sums.longest = Math.max(sums.longest, content.length)
          if (texts.get(source_id)?.slice(citation.start, citation.end) === content) sums.offsets += 1
        }
        if (rank < 0) continue
        sums.recall += 1
        sums.gain += 1 / Math.log2(rank + 2)
        if (format === 'pdf' && isOnItsPage(article, hits[rank])) sums.pages += 1
      }
    }
  }
  return rowsOf(format, articles, sums)
}

/** Whether the page that a hit cites contains the whole hit. An answer may occur on several pages. */
function isOnItsPage(article: Article, hit: Hit | undefined): boolean {
  const lines = pagesOf(article)[(hit?.citation.page ?? 0) - 1] ?? []
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
  return hit !== undefined && plain(lines.join(' ')).includes(plain(hit.content))
}

interface Sums {
  readonly questions: number
  readonly recall: number
  readonly gain: number
  readonly pages: number
  readonly offsets: number
  readonly hits: number
  readonly ms: number
  readonly longest: number
}

function rowsOf(format: string, articles: readonly Article[], sums: Sums): readonly Row[] {
  const { questions, recall } = sums
  const isMade = articles.length === subjects.length
  const set = isMade ? 'made articles' : 'XQuAD en'
  const row = (measure: string, ours: number, atLeast?: number): Row => ({
    ...{ measure: `${set} as ${format}: ${measure}`, ours, unit: '' },
    ...(atLeast !== undefined && { bound: { of: 'ours', atLeast } }),
  })
  return [
    row(`R@${topK}`, recall / questions, 0.985),
    row(`nDCG@${topK}`, sums.gain / questions, isMade ? undefined : 0.965),
    ...(format === 'pdf' ? [row('right page', sums.pages / recall, 1)] : []),
    row('right offsets', sums.offsets / sums.hits, 1),
    { ...row('longest hit', sums.longest), unit: 'characters', bound: { of: 'ours', atMost: 1_200 } },
    { ...row('a search over HTTP', sums.ms / questions), unit: 'ms' },
  ]
}

/**
 * Measures the recall of knowledge bases over HTTP, with the articles in each file format. A hit is right when it is
 * from the right article and contains the answer. SQLite, one process, lexical search only.
 */
export async function benchKnowledge(sets: string | null): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const key = `csk_${randomBytes(32).toString('base64url')}`
  const server = await startServer({ DATA_DIR: folder, MONGODB_URL: '', BOOTSTRAP_SECRET_KEY: key })
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, { ...init, headers: { ...Object(init.headers), authorization: `Bearer ${key}` } })
  try {
    const articles = articlesIn(sets)
    const rows: Row[] = []
    for (const format of isForBeingWhole ? ['md'] : Object.keys(formats))
      rows.push(...(await measure(format, articles, api)))
    return [...rows, ...(await benchBaseIndex())]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
