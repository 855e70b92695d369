import { zipFile } from './zip-file.ts'

/** A Word document: lines that begin with `# ` are headings. */
export const docxFile = (lines: readonly string[]): Buffer => {
  const paragraphs = lines.map((line) => {
    const style = line.startsWith('# ') ? '<w:pPr><w:pStyle w:val="Titel1"/></w:pPr>' : ''
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${escaped(line.replace('# ', ''))}</w:t></w:r></w:p>`
  })
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
  return zipFile({
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<w:document ${w}><w:body>${paragraphs.join('')}</w:body></w:document>`,
    'word/styles.xml': `<w:styles ${w}><w:style w:styleId="Titel1"><w:name w:val="heading 1"/></w:style></w:styles>`,
  })
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
