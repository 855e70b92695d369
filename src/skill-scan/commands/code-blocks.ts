/** A piece of code in a file, with its offset. */
export interface CodeBlock {
  readonly kind: 'shell' | 'python' | 'javascript' | 'settings' | 'powershell'
  readonly text: string
  readonly at: number
  /** Whether it is a sentence's part and not a block of its own. */
  readonly isInline: boolean
}

const languages: Readonly<Record<string, CodeBlock['kind']>> = {
  ...Object.fromEntries(
    'sh bash zsh shell console terminal shellsession fish ksh shell-session bash-session cmd bat dockerfile docker makefile make'
      .split(' ')
      .map((name) => [name, 'shell']),
  ),
  ...Object.fromEntries('py python python3 ipython'.split(' ').map((name) => [name, 'python'])),
  ...Object.fromEntries(
    'js javascript ts typescript mjs cjs jsx tsx node'.split(' ').map((name) => [name, 'javascript']),
  ),
  ...Object.fromEntries(
    'json jsonc json5 yaml yml toml ini conf cfg service plist xml properties env desktop cron crontab systemd'
      .split(' ')
      .map((name) => [name, 'settings']),
  ),
  ...Object.fromEntries('ps1 powershell pwsh psm1'.split(' ').map((name) => [name, 'powershell'])),
}
const byName = /(?:^|\/)(?:dockerfile|containerfile|makefile|justfile|procfile)(?:\.[\w-]{1,20})?$/iu
const extension = /\.(\w{1,12})$/u
const pages = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/iu

/** Returns the code in a file: all of a script, or the blocks, inline code and lines of commands of a page. */
export const codeBlocks = (path: string, text: string): readonly CodeBlock[] => {
  const whole = kindOf(path, text)
  if (whole !== undefined) return [{ kind: whole, text: shellText(whole, text), at: 0, isInline: false }]
  return [...frontMatter(text), ...fencedBlocks(text), ...inlineCode(text), ...promptLines(text)]
}

const kindOf = (path: string, text: string): CodeBlock['kind'] | undefined => {
  const shebang = /^#!\s{0,4}\S{0,80}?(?:\/env\s{1,4}(?:-S\s{1,4})?)?(\w{1,16})\b[^\n]{0,80}\n/u.exec(text)?.[1]
  if (shebang !== undefined) return languages[shebang.replace(/\d{1,3}$/u, '')] ?? 'shell'
  if (byName.test(path)) return 'shell'
  return pages.test(path) ? undefined : languages[(extension.exec(path)?.[1] ?? '').toLowerCase()]
}

const frontMatter = (text: string): readonly CodeBlock[] => {
  const found = /^\ufeff?---\r?\n([\s\S]{0,16384}?)\r?\n---/u.exec(text)?.[1]
  return found === undefined ? [] : [{ kind: 'settings', text: found, at: text.indexOf(found), isInline: false }]
}

const opening = /^[ \t>]{0,12}(`{3,12}|~{3,12})[ \t]{0,4}(?:\{?\.?([\w+-]{0,24}))?[^\n]{0,200}$/u

/** Returns the fenced blocks of a page. A block that is not closed ends with the page. */
const fencedBlocks = (text: string): readonly CodeBlock[] => {
  const blocks: CodeBlock[] = []
  let open: { readonly mark: string; readonly language: string; readonly at: number } | undefined
  let at = 0
  const close = (end: number): void => {
    if (open === undefined) return
    const body = text.slice(open.at, end)
    const kind =
      languages[open.language.toLowerCase()] ??
      (open.language === '' || open.language === 'text' ? guessed(body) : undefined)
    if (kind !== undefined) blocks.push({ kind, text: shellText(kind, body), at: open.at, isInline: false })
  }
  for (const line of text.split('\n')) {
    const [, mark, language = ''] = opening.exec(line) ?? []
    if (open === undefined && mark !== undefined) open = { mark, language, at: at + line.length + 1 }
    else if (open !== undefined && mark !== undefined && mark.startsWith(open.mark) && language === '') {
      close(at)
      open = undefined
    }
    at += line.length + 1
  }
  close(text.length)
  return blocks
}

/** Returns the kind of a block that does not say it. */
const guessed = (body: string): CodeBlock['kind'] => {
  if (/^\s{0,8}(?:import \w|from [\w.]{1,60} import|def \w{1,60}\()/mu.test(body)) return 'python'
  if (/^\s{0,8}(?:const|let|var|import) [\w{]|\brequire\(/mu.test(body)) return 'javascript'
  return /^\s{0,8}[{[]\s{0,8}"?\w/u.test(body) || /^\s{0,8}[\w-]{1,40}:\s/u.test(body) ? 'settings' : 'shell'
}

const inline = /(?<!`)(`{1,2})(?!`)([^`\n]{4,2000})\1(?!`)/gu

const inlineCode = (text: string): readonly CodeBlock[] =>
  [...text.matchAll(inline)].slice(0, 2000).flatMap(({ 1: mark = '', 2: body = '', index }) => {
    const kind = /^\s{0,4}[\w./~$-]{1,60}\s/u.test(body) || /[|;<>]/u.test(body) ? 'shell' : undefined
    return kind === undefined
      ? []
      : [{ kind, text: withoutBlanks(body), at: index + mark.length, isInline: true } as const]
  })

const prompted = /^[ \t]{0,8}(?:[$%#❯]|PS>|[\w@:~-]{1,40}\$)[ \t]{1,4}(?=[a-z./~])([^\n]{3,2000})$/gmu
const bare =
  /^[ \t]{0,8}(?:[-*+] |\d{1,3}[.)] )?((?:sudo |env )?(?:curl|wget|bash|sh|python3?|pip3?|npm|npx|docker|rm|chmod|echo|eval|source|crontab|nc|ssh|scp|git|base64|printf|dd|node|iwr|powershell)\s[^\n]{3,2000})$/gmu
const piped = /\b((?:curl|wget)\s[^\n|`]{1,400}\|[^\n`]{2,400})/gu

/** Returns lines of a page that are commands though no block says so. */
const promptLines = (text: string): readonly CodeBlock[] =>
  [prompted, bare, piped].flatMap((pattern) =>
    [...text.matchAll(pattern)].slice(0, 500).map(({ 0: line, 1: body = '', index }) => ({
      ...({ kind: 'shell', isInline: true } as const),
      text: withoutBlanks(body),
      at: index + line.indexOf(body),
    })),
  )

/** A word in brackets for what a reader puts there; a shell would take it for a redirection. */
const blank =
  /<(?=(?:your|my|the|server|host|user|name|ip|addr|url|link|domain|path|dein|euer|ihr|adress|benutzer|rechner|tu|su|usuario|servidor|direcci|serveur|utilisateur|votre|h[oô]te|utente|gebruiker|имя|адрес|сервер|хост|服务器|地址|用户|主机|サーバ|ユーザ|서버|사용자)[\p{L}\d _-]{0,30}>|[A-Z][A-Z\d _-]{1,30}>)([^<>\n]{1,50})>/giu

/** Returns a text of the same length in which such words are words of a shell. */
const withoutBlanks = (text: string): string =>
  text.replaceAll(blank, (_, word: string) => `_${word.replaceAll(' ', '_')}_`)

/** Blanks what stands before commands: prompts of a terminal, and the words of a Dockerfile and a Makefile. */
const shellText = (kind: CodeBlock['kind'], text: string): string =>
  kind === 'shell'
    ? withoutBlanks(text).replaceAll(
        /^[ \t]{0,8}(?:[$%❯>] (?=\S)|@(?=\w)|(?:RUN|CMD|ENTRYPOINT) (?:--\S{1,80} ){0,4}|[\w@:~/.-]{1,40}[$#] (?=\S))/gmu,
        (prefix) => ' '.repeat(prefix.length),
      )
    : text
