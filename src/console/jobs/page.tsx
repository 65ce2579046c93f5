import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Jobs(_: { name: string | undefined }) {
  usePageTitle('Jobs');
  return <Empty title="This page is not there yet" />;
}
