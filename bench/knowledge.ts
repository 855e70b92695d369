import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startServer } from '../scripts/services/server.ts'
import { docxFile } from '../test/support/files/docx-file.ts'
import { pdfFile } from '../test/support/files/pdf-file.ts'

/*
 * `node bench/knowledge.ts --file xquad.en.json [--only text,md,html,pdf,docx]`: recall of knowledge bases over HTTP, by the
 * articles of XQuAD (CC BY-SA 4.0, not part of this repository) in each format. A hit is right when it is of the right
 * article and contains the answer. Prints R@5, nDCG@5, shares of right pages and offsets, and ms of a search.
 */
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

const { values } = parseArgs({
  options: { file: { type: 'string' }, only: { type: 'string', default: 'text,md,html,pdf,docx' } },
})

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

const articlesOf = (file: string): readonly Article[] => JSON.parse(readFileSync(file, 'utf8')).data

const measure = async (
  format: string,
  articles: readonly Article[],
  api: (path: string, init?: RequestInit) => Promise<Response>,
) => {
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
    for (const [place, { qas }] of article.paragraphs.entries()) {
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
        const page = hits[rank]?.citation.page
        if (format !== 'pdf' || page === Math.floor(place / paragraphsAPage) + 1) sums.pages += 1
      }
    }
  }
  const share = (count: number, of: number): string => (count / of).toFixed(3)
  return {
    format,
    'R@5': share(sums.recall, sums.questions),
    'nDCG@5': share(sums.gain, sums.questions),
    'right page': share(sums.pages, sums.recall),
    'right offsets': share(sums.offsets, sums.hits),
    'longest hit': sums.longest,
    'ms a search': (sums.ms / sums.questions).toFixed(1),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
const key = `csk_${randomBytes(32).toString('base64url')}`
const server = await startServer({ DATA_DIR: folder, MONGODB_URL: '', BOOTSTRAP_SECRET_KEY: key })
try {
  const articles = articlesOf(values.file ?? '')
  const rows = []
  for (const format of values.only.split(',')) {
    rows.push(
      await measure(format, articles, (path, init = {}) =>
        fetch(`${server.url}${path}`, {
          ...init,
          headers: { ...Object(init.headers), authorization: `Bearer ${key}` },
        }),
      ),
    )
  }
  console.table(rows)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
