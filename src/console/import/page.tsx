import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Import(_: { upload: string | undefined }) {
  usePageTitle('Import');
  return <Empty title="This page is not there yet" />;
}
