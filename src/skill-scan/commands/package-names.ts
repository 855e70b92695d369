/** Names of packages that many use, which others imitate. */
const popular: ReadonlySet<string> = new Set(
  (
    'requests urllib3 numpy pandas scipy matplotlib django flask fastapi pydantic sqlalchemy boto3 botocore cryptography paramiko pyyaml pillow ' +
    'beautifulsoup4 selenium playwright tensorflow torch transformers tokenizers openai anthropic langchain tiktoken httpx aiohttp python-dateutil ' +
    'python-dotenv setuptools colorama termcolor pytest scikit-learn opencv-python psycopg2 redis celery jinja2 markupsafe certifi tqdm virtualenv ' +
    'pypdf pdfplumber reportlab openpyxl xlsxwriter python-docx python-pptx discord.py pycryptodome websockets websocket-client ' +
    'react react-dom express lodash axios chalk commander typescript webpack eslint prettier dotenv mongoose moment jsonwebtoken socket.io ' +
    'cross-env nodemon puppeteer next vite vitest jest mocha babel-core tailwindcss node-fetch bcrypt underscore jquery electron discord.js ' +
    'react-router-dom react-router @types/react @types/node chart.js date-fns zod prisma graphql redux three ethers web3 solana sharp uuid rimraf yargs inquirer colors debug body-parser cheerio pdf-lib docx xlsx'
  ).split(/\s+/u),
)

/** Well known packages whose names are close to those of others. */
const real: ReadonlySet<string> = new Set(
  'request urllib torchx preact react-dnd nest vitest jest-cli pytest-cov color colorama ether expres aiohttps httpx2 next-auth uid redux chokidar debugpy docx2 xlsx2 pillow-simd mocha-cli tqdm-joblib django-q lodash-es lodash.get nodemailer pypdf2 pypdf4 vite-node rediss docxtpl sharp-cli chalks nextra three.js @types/redis @types/reach chart.ts'.split(
    ' ',
  ),
)

/** Returns the well known package of which a name is a misspelling: a letter more, less, other, or two exchanged. */
export const isMisspelt = (name: string): string | undefined => {
  const low = name.toLowerCase()
  if (low.length < 5 || low.length > 30 || popular.has(low) || real.has(low)) return undefined
  for (const known of popular) {
    if (known.length >= 5 && isNearTo(low, known)) return known
  }
  return undefined
}

const isNearTo = (one: string, other: string): boolean => {
  if (Math.abs(one.length - other.length) > 1) return false
  let from = 0
  while (from < one.length && one[from] === other[from]) from += 1
  const [rest, wanted] = [one.slice(from), other.slice(from)]
  if (rest.length > wanted.length) return rest.slice(1) === wanted
  if (rest.length < wanted.length) return rest === wanted.slice(1)
  return (
    rest.slice(1) === wanted.slice(1) ||
    (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2))
  )
}
