import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['TEST_SEED']) });
