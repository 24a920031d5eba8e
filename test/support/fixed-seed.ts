// Loaded before each test file when SKEIN_TEST_SEED is set: properties begin with that seed too. They print theirs when they fail.
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.SKEIN_TEST_SEED) })
