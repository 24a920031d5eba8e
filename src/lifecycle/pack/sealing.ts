import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM, randomBytes, scrypt } from 'node:crypto'
import { readGiven } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'

/** What the header of a sealed pack says. How hard the key is to find is fixed by the version of the format. */
export interface Seal {
  kdf: 'scrypt'
  cipher: 'aes-256-gcm'
  salt: string
  iv: string
}

/** 128 MB and about half a second for every passphrase that somebody tries. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }
const KEY_BYTES = 32
export const TAG_BYTES = 16
const SALT_BYTES = 16
const IV_BYTES = 12
const SHORTEST = 8
const LONGEST = 1024

export const newSeal = (): Seal => ({
  kdf: 'scrypt',
  cipher: 'aes-256-gcm',
  salt: randomBytes(SALT_BYTES).toString('hex'),
  iv: randomBytes(IV_BYTES).toString('hex'),
})

export const isSeal = (value: unknown): value is Seal => {
  const { kdf, cipher, salt, iv } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Seal>
  const isHex = (text: unknown, bytes: number): boolean =>
    typeof text === 'string' && text.length === 2 * bytes && /^[0-9a-f]+$/.test(text)
  return kdf === 'scrypt' && cipher === 'aes-256-gcm' && isHex(salt, SALT_BYTES) && isHex(iv, IV_BYTES)
}

/** The key of a pack. The header is part of what is authenticated. */
export class Key {
  private constructor(
    private readonly seal: Seal,
    private readonly bytes: Buffer,
  ) {}

  static async of(seal: Seal, passphrase: string): Promise<Key> {
    const salt = Buffer.from(seal.salt, 'hex')
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, COST, (error, key) => (error ? reject(error) : resolve(key)))
    })
    return new Key(seal, bytes)
  }

  cipher(header: Buffer): CipherGCM {
    const cipher = createCipheriv(this.seal.cipher, this.bytes, Buffer.from(this.seal.iv, 'hex'))
    return cipher.setAAD(header)
  }

  decipher(header: Buffer, tag: Buffer): DecipherGCM {
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv(this.seal.cipher, this.bytes, Buffer.from(this.seal.iv, 'hex'), options)
    return decipher.setAAD(header).setAuthTag(tag)
  }
}

/** A passphrase that was typed, or the file that has one. Never the word of a command line, which other users can see. */
export interface GivenPassphrase {
  passphrase?: string | undefined
  passphrase_file?: string | undefined
}

export const passphraseOf = ({ passphrase, passphrase_file }: GivenPassphrase): string | undefined =>
  passphrase_file === undefined
    ? passphrase === undefined
      ? undefined
      : passphraseFrom(passphrase)
    : passphraseIn(passphrase_file)

/** What was typed or is in a file, without the line break at its end. */
function passphraseFrom(text: string): string {
  const passphrase = text.replace(/\r?\n$/, '')
  const wrong = /[\r\n]/.test(passphrase)
    ? 'has more than one line'
    : passphrase.length < SHORTEST
      ? `is shorter than ${SHORTEST} characters`
      : passphrase.length > LONGEST
        ? `is longer than ${LONGEST} characters`
        : undefined
  if (wrong === undefined) return passphrase
  throw new SkeinError('bad-input', `The passphrase ${wrong}`, 'Use one line of 8 characters or more')
}

function passphraseIn(file: string): string {
  try {
    return passphraseFrom(readGiven(file, 4 * LONGEST).toString('utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof SkeinError || code === undefined) throw error
    throw new SkeinError('bad-input', `Cannot read ${file} (${code})`, 'Name a file with the passphrase', {
      cause: error,
    })
  }
}
